/* For twins that call what cuda.h of CUDA 13.0 does not have yet. They look it up, as the runtime
 * of a later CUDA does, and say `sim: driver=VERSION`, since a driver hands out nothing that is
 * newer than itself.
 */
#ifndef SC_TESTS_HAZARD_NEWER_H
#define SC_TESTS_HAZARD_NEWER_H

#include "twin_driver.h"

#include <cudaTypedefs.h>

#include "interpose/driver/newer_cuda.h"

#define NEWER(name, version) ((PFN_##name##_v##version)newer(#name, version))

static TWIN_HELPER void *newer(const char *name, int version)
{
    void *function = NULL;
    CUdriverProcAddressQueryResult found;
    CHECK(cuGetProcAddress(name, &function, version, 0, &found));
    if (!function) {
        fprintf(stderr, "no %s of %d\n", name, version);
        exit(3);
    }
    return function;
}

static TWIN_HELPER void copy_with_order(CUdeviceptr to, void *from, size_t size_bytes,
                                        CUmemcpySrcAccessOrder order, CUstream stream)
{
    CUmemcpyAttributes attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.srcAccessOrder = order;
    CHECK(NEWER(cuMemcpyWithAttributesAsync, 13020)(to, (CUdeviceptr)(uintptr_t)from, size_bytes,
                                                    &attributes, stream));
}

#endif

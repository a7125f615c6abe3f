/* Twins of which a library opened with RTLD_DEEPBIND makes the copy and the free. */
#ifndef SC_TESTS_HAZARD_DEEP_H
#define SC_TESTS_HAZARD_DEEP_H

#include "plugin.h"

static inline int free_in_library(const char *name)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, FOREIGN);
    CHECK(dlclose(open_beside_as(name, RTLD_LAZY | RTLD_DEEPBIND)));
    void *library = open_beside_as(name, RTLD_LAZY | RTLD_DEEPBIND);
    int (*copy)(uintptr_t, const void *, size_t, cudaStream_t);
    void (*release)(void *);
    *(void **)&copy = dlsym(library, "sc_deep_copy");
    *(void **)&release = dlsym(library, "sc_deep_free");
    unsigned char *block = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(copy((uintptr_t)device, block, SMALL, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(block));
    }
    release(block);
    fill(malloc(SMALL), SMALL, FOREIGN);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, SMALL, WANTED));
}

#endif

/* Virtual memory for twins: memory of cuMemCreate, and the addresses where it is mapped. */
#ifndef SC_TESTS_HAZARD_VIRTUAL_H
#define SC_TESTS_HAZARD_VIRTUAL_H

#include "twin_driver.h"

enum { GRANULE = 2 << 20 };

static TWIN_HELPER CUmemGenericAllocationHandle physical_memory(void)
{
    CUmemGenericAllocationHandle handle = 0;
    CUmemAllocationProp properties;
    memset(&properties, 0, sizeof properties);
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CHECK(cuMemCreate(&handle, GRANULE, &properties, 0));
    return handle;
}

static TWIN_HELPER CUdeviceptr reserved_addresses(size_t size_bytes)
{
    CUdeviceptr address = 0;
    CHECK(cuMemAddressReserve(&address, size_bytes, 0, 0, 0));
    return address;
}

/* Memory of its own, which lives for as long as it is mapped; the first SMALL bytes are filled. */
static TWIN_HELPER void map_memory(CUdeviceptr address, unsigned seed)
{
    CUmemGenericAllocationHandle handle = physical_memory();
    CUmemAccessDesc access;
    void *image = filled_block(SMALL, seed);
    memset(&access, 0, sizeof access);
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CHECK(cuMemMap(address, GRANULE, 0, handle, 0));
    CHECK(cuMemSetAccess(address, GRANULE, &access, 1));
    CHECK(cuMemRelease(handle));
    CHECK(cuMemcpyHtoD(address, image, SMALL));
    CHECK(cuCtxSynchronize());
    free(image);
}

#endif

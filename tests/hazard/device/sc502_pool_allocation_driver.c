// expect: SC502 action=ordered origin=cuMemAllocFromPool* direction=allocation event=cuMemcpyHtoD*
// options: device=1
//
// A stream hands memory of a pool on to itself, as it may: it clears the first block, and the
// second one lies there. Another stream fills the second block before the first stream has got to
// its allocation, and what it writes is cleared.
#include "twin_driver.h"

static CUmemoryPool new_pool(void)
{
    CUmemPoolProps properties;
    CUmemoryPool pool = NULL;
    cuuint64_t threshold_bytes = UINT64_MAX;
    memset(&properties, 0, sizeof properties);
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CHECK(cuMemPoolCreate(&pool, &properties));
    CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold_bytes));
    return pool;
}

int main(void)
{
    driver_start();
    CUstream allocator = driver_new_stream();
    CUstream user = driver_new_stream();
    CUevent allocated = driver_new_event();
    CUmemoryPool pool = new_pool();
    void *source = driver_pinned_block(SMALL, WANTED);
    void *target = driver_pinned_block(SMALL, 0);
    CUdeviceptr first = 0, second = 0;

    CHECK(cuMemAllocFromPoolAsync(&first, SMALL, pool, allocator));
    driver_busy(allocator);
    CHECK(cuMemsetD8Async(first, 0, SMALL, allocator));
    CHECK(cuMemFreeAsync(first, allocator));
    CHECK(cuMemAllocFromPoolAsync(&second, SMALL, pool, allocator));
    CHECK(cuEventRecord(allocated, allocator));
    if (fixed)
        CHECK(cuStreamWaitEvent(user, allocated, 0));
    CHECK(cuMemcpyHtoDAsync(second, source, SMALL, user));

    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(target, second, SMALL));
    return finish(holds(target, SMALL, WANTED));
}

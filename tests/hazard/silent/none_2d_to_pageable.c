// expect: none
// in-place: SC103 action=stalled kind=registered
// in-place: wrong
//
// A 2D copy to a pageable buffer that is named by its unified address returns when it is complete,
// and everything before it on its stream.
#include "twin_driver.h"

enum { ROW = 1024, ROWS = 64 };

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);
    void *target = filled_block(SMALL, 0);
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = device;
    copy.srcPitch = ROW;
    copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.dstDevice = (CUdeviceptr)(uintptr_t)target;
    copy.dstPitch = ROW;
    copy.WidthInBytes = ROW;
    copy.Height = ROWS;

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    CHECK(cuMemcpy2DAsync(&copy, stream));
    bool good = holds(target, SMALL, WANTED);
    CHECK(cuMemHostUnregister(source));
    free(source);
    return finish(good);
}

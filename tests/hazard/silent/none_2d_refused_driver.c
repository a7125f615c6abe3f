// expect: none
//
// Copies of rows that the driver refuses, since a row is longer than the pitch, are refused with
// the library, too.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(4096, WANTED);
    void *source = driver_pinned_block(4096, FOREIGN);
    const CUDA_MEMCPY2D rows = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = source,
        .srcPitch = 24,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = device,
        .dstPitch = 32,
        .WidthInBytes = 32,
        .Height = 8,
    };
    CUDA_MEMCPY3D box = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = source,
        .srcPitch = 31,
        .srcHeight = 4,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = device,
        .dstPitch = 32,
        .dstHeight = 4,
        .WidthInBytes = 32,
        .Height = 4,
        .Depth = 2,
    };
    bool refused = cuMemcpy2DAsync(&rows, stream) == CUDA_ERROR_INVALID_VALUE &&
                   cuMemcpy3DAsync(&box, stream) == CUDA_ERROR_INVALID_VALUE;
    CHECK(cuStreamSynchronize(stream));
    return finish(refused && driver_device_holds(device, 4096, WANTED));
}

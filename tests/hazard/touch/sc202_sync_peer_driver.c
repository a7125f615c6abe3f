// expect: SC202 action=stalled kind=pinned certainty=observed event=cuMemcpyPeer
// expect: SC202 action=stalled kind=pinned event=cuMemcpy3DPeer
//
// The same in copies between contexts. The second one reads what both copies write, and may be told
// of for the first copy as well, which the program has not waited for.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUcontext context = NULL;
    CHECK(cuCtxGetCurrent(&context));
    CUstream stream = driver_new_stream();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    CUdeviceptr other = driver_device_block(SMALL, 0);
    void *between = driver_pinned_block(SMALL, FOREIGN);
    CUDA_MEMCPY3D_PEER box = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = between,
        .srcContext = context,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = other,
        .dstContext = context,
        .WidthInBytes = SMALL,
        .Height = 1,
        .Depth = 1,
    };

    driver_busy(stream);
    CHECK(cuMemcpyDtoHAsync(between, from, SMALL / 2, stream));
    driver_busy(stream);
    CHECK(cuMemcpyDtoHAsync((char *)between + SMALL / 2, from + SMALL / 2, SMALL / 2, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyPeer(to, context, (CUdeviceptr)(uintptr_t)between, context, SMALL / 2));
    CHECK(cuMemcpy3DPeer(&box));

    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoD(to + SMALL / 2, other + SMALL / 2, SMALL / 2));
    return finish(driver_device_holds(to, SMALL, WANTED) &&
                  driver_device_holds(other, SMALL, WANTED));
}

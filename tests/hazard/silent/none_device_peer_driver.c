// expect: none
// options: device=1
//
// A synchronous peer copy is in order with all work that its contexts have been given and will be,
// in whatever stream.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUcontext context = NULL;
    CUstream before = driver_new_stream();
    CUstream behind = driver_new_stream();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, FOREIGN);
    CHECK(cuCtxGetCurrent(&context));

    driver_busy(before);
    CHECK(cuMemsetD8Async(to, 0, SMALL, before));
    CHECK(cuMemcpyPeer(to, context, from, context, SMALL));
    CHECK(cuMemsetD8Async(from, 0, SMALL, behind));
    CHECK(cuCtxSynchronize());
    return finish(true);
}

// expect: SC501 action=ordered kind=device origin=cuMemAlloc_v2 direction=H2D certainty=observed
// options: device=1
//
// A stream of one context uploads, and one of another context copies the memory to its own; later
// the first overwrites it. Events of either context order the two.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUcontext first = NULL;
    CUcontext second = NULL;
    CHECK(cuCtxGetCurrent(&first));
    CUstream upload = driver_new_stream();
    CUevent uploaded = driver_new_event();
    CUdeviceptr from = driver_device_block(SMALL, FOREIGN);
    void *source = driver_pinned_block(SMALL, WANTED);
    CHECK(cuCtxCreate(&second, NULL, 0, 0));
    CUstream copying = driver_new_stream();
    CUevent copied = driver_new_event();
    CUdeviceptr to = driver_device_block(SMALL, 0);

    CHECK(cuCtxSetCurrent(first));
    driver_busy(upload);
    CHECK(cuMemcpyHtoDAsync(from, source, SMALL, upload));
    CHECK(cuEventRecord(uploaded, upload));
    CHECK(cuCtxSetCurrent(second));
    if (fixed)
        CHECK(cuStreamWaitEvent(copying, uploaded, 0));
    CHECK(cuMemcpyPeerAsync(to, second, from, first, SMALL, copying));
    CHECK(cuEventRecord(copied, copying));
    CHECK(cuCtxSetCurrent(first));
    CHECK(cuStreamWaitEvent(upload, copied, 0));
    CHECK(cuMemsetD8Async(from, 0, SMALL, upload));
    CHECK(cuStreamSynchronize(upload));
    CHECK(cuCtxSetCurrent(second));
    return finish(driver_device_holds(to, SMALL, WANTED));
}

// expect: none
// options: snapshot_max=64K
//
// A host function fills the source, the context waits for an event behind it, and a stream is
// synchronised, which says nothing of that. The copy that follows on it comes after the function.
#include "twin_driver.h"

static void fill_late(void *source)
{
    usleep(BUSY_US / 2);
    fill(source, SMALL, WANTED);
}

int main(void)
{
    driver_start();
    CUcontext context = NULL;
    CUstream filling = driver_new_stream();
    CUstream stream = driver_new_stream();
    CUevent filled = driver_new_event();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, FOREIGN);
    CHECK(cuCtxGetCurrent(&context));

    CHECK(cuLaunchHostFunc(filling, fill_late, source));
    CHECK(cuEventRecord(filled, filling));
    CHECK(cuCtxWaitEvent(context, filled));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    CHECK(cuStreamSynchronize(stream));
    return finish(driver_device_holds(device, SMALL, WANTED));
}

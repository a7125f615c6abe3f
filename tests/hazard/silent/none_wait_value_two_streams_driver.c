// expect: none
// options: stall_limit=60s:device=1
//
// A stream comes after two others, each of which waits for a word that the host writes. The host
// waits for one of the two: until it has written the other word, the source of a copy is still to
// be filled, and the copy may race with nothing, since the host puts them in order.
#include "twin_driver.h"

static void come_after(CUstream stream, CUstream waiter, volatile uint32_t *word)
{
    CUevent behind = driver_new_event();
    CHECK(cuStreamWaitValue32(waiter, (CUdeviceptr)(uintptr_t)word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuEventRecord(behind, waiter));
    CHECK(cuStreamWaitEvent(stream, behind, 0));
}

int main(void)
{
    driver_start();
    CUstream one = driver_new_stream();
    CUstream two = driver_new_stream();
    CUstream stream = driver_new_stream();
    CUstream writer = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, 0);
    volatile uint32_t *go = (volatile uint32_t *)driver_pinned_block(4096, 0);
    go[0] = go[1] = 0;

    come_after(stream, one, &go[0]);
    come_after(stream, two, &go[1]);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    go[0] = 1;
    CHECK(cuStreamSynchronize(one));
    CHECK(cuMemsetD8Async(device, FOREIGN, SMALL, writer));
    CHECK(cuStreamSynchronize(writer));
    fill(source, SMALL, WANTED);
    go[1] = 1;

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}

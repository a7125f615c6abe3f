// expect: SC501 action=ordered kind=device origin=cuMemAlloc_v2 direction=D2D certainty=observed
// options: device=1
//
// A copy within the device is carried on by another stream before it is done.
#include "twin.h"

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    cudaEvent_t copied = new_event();
    void *from = device_block(SMALL, WANTED);
    void *between = device_block(SMALL, FOREIGN);
    void *to = device_block(SMALL, 0);

    busy(first);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToDevice, first));
    CHECK(cudaEventRecord(copied, first));
    if (fixed)
        CHECK(cudaStreamWaitEvent(second, copied, 0));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyDeviceToDevice, second));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}

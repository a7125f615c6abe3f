// expect: SC204 action=ordered kind=pinned
//
// The same across two streams, ordered by an event, which the racy build forgets.
#include "touch.h"

enum { PARAMETERS = 1024 };

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t up = new_stream();
    cudaEvent_t arrived = new_event();
    void *from = device_block(PARAMETERS, WANTED);
    void *to = device_block(PARAMETERS, 0);
    void *between = pinned_block(PARAMETERS, FOREIGN);

    busy(down);
    CHECK(cudaMemcpyAsync(between, from, PARAMETERS, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(arrived, down));
    if (fixed)
        CHECK(cudaStreamWaitEvent(up, arrived, 0));
    CHECK(cudaMemcpyAsync(to, between, PARAMETERS, cudaMemcpyHostToDevice, up));
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, PARAMETERS, WANTED));
}

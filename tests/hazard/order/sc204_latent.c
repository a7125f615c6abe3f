// expect: SC204 kind=pinned certainty=latent
// sim: late=0
//
// The first copy has landed by the time the second is issued; nothing orders them.
#include "twin.h"

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t up = new_stream();
    cudaEvent_t arrived = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);

    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(arrived, down));
    sleep_patiently(DONE_US);
    if (fixed)
        CHECK(cudaStreamWaitEvent(up, arrived, 0));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}

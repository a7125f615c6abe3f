// expect: SC202 action=stalled kind=pinned certainty=latent event=cuMemcpyHtoD_v2
//
// The copy has won the race, and nothing has told the program so.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);

    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    sleep_patiently(DONE_US);
    CHECK(cudaMemcpy(to, between, SMALL, cudaMemcpyHostToDevice));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}

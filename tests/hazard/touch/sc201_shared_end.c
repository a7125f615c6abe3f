// expect: SC201 action=reported kind=registered certainty=latent
// sim: late=0
//
// The first bytes of a heap block lie on a page with other blocks, which is not guarded for their
// sake. That they were changed is found by what they were.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    sleep_patiently(DONE_US);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(source, 0);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, SMALL, WANTED));
}

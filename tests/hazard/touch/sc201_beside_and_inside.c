// expect: SC201 action=reported kind=pinned certainty=latent
// sim: late=0
//
// A counter beside the source is written, on the source's last page, which has to be let go for
// that. The write into the source that follows is found by what the page held.
#include "touch.h"

enum { COUNTER = 16 };

int main(void)
{
    const size_t bytes = SMALL - COUNTER;
    cudaStream_t stream = new_stream();
    void *device = device_block(bytes, 0);
    void *source = pinned_block(SMALL, WANTED);

    CHECK(cudaMemcpyAsync(device, source, bytes, cudaMemcpyHostToDevice, stream));
    poke(source, SMALL - 1);
    sleep_patiently(DONE_US);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(source, bytes - 1);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, bytes, WANTED));
}

// expect: SC201 kind=registered certainty=latent
// sim: late=0
//
// Registered memory that begins with a page and ends within it: the page is not guarded, for the
// sake of what else may lie there. That the bytes were changed is found by what they were.
#include "touch.h"

int main(void)
{
    const size_t size_bytes = 144;
    cudaStream_t stream = new_stream();
    void *device = device_block(size_bytes, 0);
    void *source = aligned_alloc(ROOM, ROOM);

    fill(source, size_bytes, WANTED);
    CHECK(cudaHostRegister(source, size_bytes, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(device, source, size_bytes, cudaMemcpyHostToDevice, stream));
    sleep_patiently(DONE_US);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(source, 7);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, size_bytes, WANTED));
}

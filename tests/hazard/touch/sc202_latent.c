// expect: SC202 kind=registered certainty=latent
// sim: late=0
// needs: small-pages
//
// The result has landed by the time it is read, which nothing the program did could tell it.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = registered_block(SMALL, 0);

    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    sleep_patiently(DONE_US);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = holds(target, SMALL, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}

// expect: SC102 kind=registered certainty=latent
// sim: late=0
//
// The copy has landed by the time of the free, which nothing the program did could tell it.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = registered_block(SMALL, 0);

    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    sleep_patiently(DONE_US);
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(target));
    }
    free(target);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(holds(owner, SMALL, FOREIGN));
}

// expect: SC201 action=stalled kind=registered certainty=observed
//
// Whole pages of posix_memalign.
#include "touch.h"

int main(void)
{
    void *source = NULL;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    if (posix_memalign(&source, 4096, SMALL) != 0)
        return 3;
    fill(source, SMALL, WANTED);
    CHECK(cudaHostRegister(source, SMALL, cudaHostRegisterDefault));

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(source, SMALL - 1);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}

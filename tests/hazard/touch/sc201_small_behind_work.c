// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A small copy behind a host function, which might be there to fill the source.
#include "touch.h"

enum { PARAMETERS = 512 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(PARAMETERS, 0);
    void *source = pinned_block(PARAMETERS, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, PARAMETERS, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(source, PARAMETERS - 1);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, PARAMETERS, WANTED));
}

// expect: SC101 action=deferred kind=pageable certainty=latent
// in-place: SC101 action=deferred kind=pageable certainty=observed
//
// The same where the driver waits in the call until it has read the source: nothing goes wrong
// here, and nothing that the program did sees to that.
#include "batch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);

    busy(stream);
    batch_copy(device, source, SMALL, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}

// expect: SC201 action=stalled kind=pageable certainty=observed
// in-place: SC201 action=reported kind=pageable certainty=latent
// in-place: wrong
//
// A large pageable source with order ANY is overwritten as soon as the call has returned: the
// driver reads it later, in a thread of its own.
#include "batch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(4 * LARGE, 0);
    void *source = filled_block(4 * LARGE, WANTED);

    busy(stream);
    batch_copy(device, source, 4 * LARGE, cudaMemcpySrcAccessOrderAny, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(source, 4 * LARGE, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, 4 * LARGE, WANTED) && holds(source, 4 * LARGE, FOREIGN));
}

// expect: SC201 action=stalled kind=pageable
// in-place: SC201 action=reported kind=pageable certainty=latent
// in-place: wrong
// sim: late_batch=1
// needs: sim
//
// A large pageable source in stream order is overwritten, which newer drivers read late: all of it
// is kept, and the bytes before its first and behind its last whole page are sent from snapshots.
#include "batch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *source = filled_block(LARGE, WANTED);

    batch_copy(device, source, LARGE, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(source, LARGE, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, LARGE, WANTED) && holds(source, LARGE, FOREIGN));
}

// expect: SC202 action=stalled kind=pageable certainty=observed
// in-place: none
// in-place: wrong
//
// The pageable destination of a batch is read before it is there: unlike a plain copy, a batch does
// not wait for it.
#include "batch.h"
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(4 * LARGE, WANTED);
    void *target = page_block(4 * LARGE, FOREIGN);

    busy(stream);
    batch_copy(target, device, 4 * LARGE, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = holds(target, 4 * LARGE, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right && holds(target, 4 * LARGE, WANTED));
}

// expect: SC203 action=stalled kind=pageable certainty=observed
// in-place: none
// in-place: wrong
//
// The pageable destination of a batch is handed to the next user, who fills it, before the copy has
// landed there.
#include "batch.h"
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, WANTED);
    void *target = page_block(LARGE, 0);

    busy(stream);
    batch_copy(target, device, LARGE, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(target, LARGE, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, LARGE, FOREIGN));
}

// expect: SC201 kind=pageable direction=H2D certainty=observed
// in-place: SC201 action=reported kind=pageable certainty=latent
// in-place: wrong
//
// A small pageable source with order ANY is taken in the call on its way to the device, and late on
// its way to managed memory.
#include "batch.h"
#include "managed.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = managed_block(SMALL, 0), *source = filled_block(SMALL, WANTED);

    busy(stream);
    batch_copy(to, source, SMALL, cudaMemcpySrcAccessOrderAny, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(source, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(to, SMALL, WANTED) && holds(source, SMALL, FOREIGN));
}

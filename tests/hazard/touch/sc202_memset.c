// expect: SC202 action=stalled kind=pinned certainty=observed
//
// Pinned memory that an asynchronous memset is still to clear is read.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    unsigned char *target = (unsigned char *)pinned_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemsetAsync(target, 0x5a, SMALL, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    unsigned char got = ((volatile unsigned char *)target)[SMALL / 2];

    CHECK(cudaDeviceSynchronize());
    return finish(got == 0x5a);
}

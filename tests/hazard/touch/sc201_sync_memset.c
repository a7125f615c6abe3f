// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A synchronous memset clears pinned memory that another stream is still to send.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = device_block(SMALL, 0);
    unsigned char *source = (unsigned char *)pinned_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemset(source, 0, SMALL));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED) && source[0] == 0 && source[SMALL - 1] == 0);
}

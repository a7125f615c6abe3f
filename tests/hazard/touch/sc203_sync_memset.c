// expect: SC203 action=stalled kind=pinned certainty=observed
//
// Counters are cleared by a synchronous memset while the last ones are still on their way.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, FOREIGN);
    unsigned char *counters = (unsigned char *)pinned_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(counters, from, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemset(counters, 0, SMALL));

    CHECK(cudaDeviceSynchronize());
    return finish(counters[0] == 0 && counters[SMALL / 2] == 0 && counters[SMALL - 1] == 0);
}

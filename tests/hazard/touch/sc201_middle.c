// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A copy of the middle of a buffer, and a byte in the middle of that.
#include "touch.h"

int main(void)
{
    const size_t start = SMALL / 4 + 7;
    const size_t bytes = SMALL / 2;
    cudaStream_t stream = new_stream();
    char *device = (char *)device_block(SMALL, WANTED);
    char *source = (char *)pinned_block(SMALL, WANTED);
    CHECK(cudaMemset(device + start, 0, bytes));
    CHECK(cudaDeviceSynchronize());

    busy(stream);
    CHECK(cudaMemcpyAsync(device + start, source + start, bytes, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(source, start + bytes / 2);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}

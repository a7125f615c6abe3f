// expect: none
// summary: taken_early=2
//
// The source of a copy is the destination of one before, in the legacy stream or in a blocking one.
// Nothing says so but the legacy stream's own rules, and the driver takes the old bytes.
#include "early.h"

static bool copied_behind(cudaStream_t down, cudaStream_t up)
{
    void *from = device_block(EARLY, WANTED);
    void *to = device_block(EARLY, 0);
    void *between = pinned_block(EARLY, FOREIGN);
    busy(down);
    CHECK(cudaMemcpyAsync(between, from, EARLY, cudaMemcpyDeviceToHost, down));
    CHECK(cudaMemcpyAsync(to, between, EARLY, cudaMemcpyHostToDevice, up));
    CHECK(cudaStreamSynchronize(up));
    bool right = device_holds(to, EARLY, WANTED);
    CHECK(cudaFreeHost(between));
    return right;
}

int main(void)
{
    cudaStream_t blocking = blocking_stream();
    bool right = copied_behind(cudaStreamLegacy, blocking);
    return finish(copied_behind(blocking, cudaStreamLegacy) && right);
}

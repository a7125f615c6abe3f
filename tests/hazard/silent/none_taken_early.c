// expect: none
// summary: taken_early=2
//
// A host function fills a source that a copy in another stream comes after, since one of the two is
// the legacy stream: the driver takes the old bytes in the call.
#include "early.h"

static bool copied_behind(cudaStream_t filling, cudaStream_t copying)
{
    void *device = device_block(EARLY, 0);
    void *source = pinned_block(EARLY, FOREIGN);
    CHECK(cudaLaunchHostFunc(filling, fill_late, source));
    CHECK(cudaMemcpyAsync(device, source, EARLY, cudaMemcpyHostToDevice, copying));
    CHECK(cudaStreamSynchronize(copying));
    bool right = device_holds(device, EARLY, WANTED);
    CHECK(cudaFreeHost(source));
    return right;
}

int main(void)
{
    cudaStream_t blocking = blocking_stream();
    bool right = copied_behind(cudaStreamLegacy, blocking);
    return finish(copied_behind(blocking, cudaStreamLegacy) && right);
}

// expect: none
//
// Two blocking streams use one buffer, with work on the legacy stream between them: it waits for
// the first and the second waits for it.
#include "twin.h"

int main(void)
{
    cudaStream_t down = NULL;
    cudaStream_t up = NULL;
    CHECK(cudaStreamCreate(&down));
    CHECK(cudaStreamCreate(&up));
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *scratch = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);

    busy(down);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, down));
    CHECK(cudaMemsetAsync(scratch, 0, SMALL, cudaStreamLegacy));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyHostToDevice, up));
    CHECK(cudaStreamSynchronize(up));

    bool right = device_holds(to, SMALL, WANTED);
    CHECK(cudaFreeHost(between));
    return finish(right);
}

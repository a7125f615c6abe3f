// expect: SC105 action=deferred certainty=observed
//
// cudaFreeHost while a memset node is still to fill the buffer.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *target = pinned_block(SMALL, 0);
    begin_capture(stream);
    CHECK(cudaMemsetAsync(target, 0x5a, SMALL, stream));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeHost(target));

    void *owner = pinned_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    bool right = holds(owner, SMALL, FOREIGN);
    CHECK(cudaFreeHost(owner));
    return finish(right);
}

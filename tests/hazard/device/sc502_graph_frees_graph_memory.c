// expect: SC502 action=ordered kind=device direction=H2D event=cuGraphLaunch
// options: device=1
//
// One graph allocates memory, which a stream fills, and another graph frees it. In the racy build
// nothing orders the second launch that frees behind what is copied there.
#include "graphs.h"

int main(void)
{
    cudaStream_t one = new_stream(), two = new_stream();
    cudaEvent_t filled = new_event();
    void *source = pinned_block(SMALL, WANTED), *memory = NULL;
    begin_capture(one);
    CHECK(cudaMallocAsync(&memory, SMALL, one));
    cudaGraphExec_t allocates = instantiate_only(end_capture(one));
    begin_capture(two);
    CHECK(cudaFreeAsync(memory, two));
    cudaGraphExec_t frees = instantiate_only(end_capture(two));

    for (int turn = 0; turn < 2; turn++) {
        bool orders = fixed || turn == 0;
        CHECK(cudaGraphLaunch(allocates, one));
        CHECK(cudaEventRecord(filled, one));
        busy(one);
        CHECK(cudaMemcpyAsync(memory, source, SMALL, cudaMemcpyHostToDevice, one));
        if (orders)
            CHECK(cudaEventRecord(filled, one));
        CHECK(cudaStreamWaitEvent(two, filled, 0));
        CHECK(cudaGraphLaunch(frees, two));
        CHECK(cudaDeviceSynchronize());
    }
    return finish(true);
}

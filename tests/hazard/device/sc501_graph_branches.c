// expect: SC501 action=reported nodes=memset-write-by-cuMemsetD8Async,H2D-write-by-cuMemcpyH*
// options: device=1
//
// Two branches of a graph, one of which clears what the other one fills: no edge puts them in an
// order. Nobody heals that, so nothing is said of what is there in the end.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream(), branch = new_stream();
    cudaEvent_t forked = new_event(), cleared = new_event(), joined = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *shared = device_block(2 * SMALL, FOREIGN), *result = device_block(SMALL, 0);
    begin_capture(stream);
    CHECK(cudaEventRecord(forked, stream));
    CHECK(cudaStreamWaitEvent(branch, forked, 0));
    CHECK(cudaMemsetAsync(shared, 0, 2 * SMALL, stream));
    CHECK(cudaEventRecord(cleared, stream));
    if (fixed)
        CHECK(cudaStreamWaitEvent(branch, cleared, 0));
    CHECK(cudaMemcpyAsync(shared, source, SMALL, cudaMemcpyHostToDevice, branch));
    CHECK(cudaMemcpyAsync(result, source, SMALL, cudaMemcpyHostToDevice, branch));
    CHECK(cudaEventRecord(joined, branch));
    CHECK(cudaStreamWaitEvent(stream, joined, 0));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    for (int launch = 0; launch < 3; launch++)
        CHECK(cudaGraphLaunch(exec, stream)); /* found once */

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, SMALL, WANTED) &&
                  (!fixed || device_holds(shared, SMALL, WANTED)));
}

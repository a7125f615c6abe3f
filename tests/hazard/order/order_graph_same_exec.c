// expect: SC403 action=stalled certainty=observed
//
// The launches of one exec follow each other, whatever their streams: with the second the first is
// complete as well. The racy build has two execs of the graph, that write to different places.
#include "graphs.h"

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    void *one = device_block(SMALL, 0);
    void *two = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(one, input, SMALL, cudaMemcpyHostToDevice, first);
    cudaGraphExec_t other = captured_exec(two, input, SMALL, cudaMemcpyHostToDevice, first);

    busy(first);
    CHECK(cudaGraphLaunch(exec, first));
    CHECK(cudaGraphLaunch(fixed ? exec : other, second));
    CHECK(cudaStreamSynchronize(second));
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(one, SMALL, WANTED) && device_holds(two, SMALL, fixed ? 0 : WANTED));
}

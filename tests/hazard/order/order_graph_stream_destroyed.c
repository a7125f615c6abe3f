// expect: SC204 action=ordered kind=pinned certainty=observed
//
// The launches of one exec follow each other, also when the stream of the former one is destroyed
// and another made in its place. The racy build launches another exec of the graph at last.
#include "graphs.h"

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t up = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *scratch = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);
    begin_capture(up);
    CHECK(cudaMemsetAsync(scratch, 1, SMALL, up));
    cudaGraph_t graph = end_capture(up);
    cudaGraphExec_t exec = instantiate(graph);
    cudaGraphExec_t other = instantiate_only(graph);

    busy(down);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, down));
    CHECK(cudaGraphLaunch(exec, down));
    CHECK(cudaGraphLaunch(exec, up));
    CHECK(cudaStreamDestroy(up));
    up = new_stream();
    CHECK(cudaGraphLaunch(fixed ? exec : other, up));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}

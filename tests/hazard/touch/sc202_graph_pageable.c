// expect: SC202 action=stalled kind=pageable certainty=observed event=cuGraphLaunch
// in-place: SC204 action=ordered kind=pageable event=cuGraphLaunch
//
// A launch reads pageable memory in the call, while a batch copy on another stream is still to
// write it.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    const void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = filled_block(SMALL, FOREIGN);
    size_t size = SMALL, first = 0;
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    cudaGraphExec_t exec = captured_exec(to, between, SMALL, cudaMemcpyHostToDevice, other);

    busy(stream);
    CHECK(cudaMemcpyBatchAsync(&between, &from, &size, 1, &order, &first, 1, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphLaunch(exec, other));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}

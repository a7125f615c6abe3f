// expect: SC501 action=ordered kind=device direction=D2D event=cuMemsetD8Async certainty=observed
// options: device=1
//
// A node of an exec is given other memory to read, and another stream clears that.
#include "graphs.h"

int main(void)
{
    cudaStream_t work = new_stream();
    cudaStream_t clear = new_stream();
    cudaEvent_t done = new_event();
    void *first = device_block(SMALL, FOREIGN);
    void *second = device_block(SMALL, WANTED);
    void *result = device_block(SMALL, 0);
    cudaGraph_t graph = captured_copy(result, first, SMALL, cudaMemcpyDeviceToDevice, work);
    cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, only_node(graph), result, second, SMALL,
                                             cudaMemcpyDeviceToDevice));

    busy(work);
    CHECK(cudaGraphLaunch(exec, work));
    CHECK(cudaEventRecord(done, work));
    CHECK(cudaMemsetAsync(first, 0, SMALL, clear)); /* which it no longer reads */
    if (fixed)
        CHECK(cudaStreamWaitEvent(clear, done, 0));
    CHECK(cudaMemsetAsync(second, 0, SMALL, clear));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, SMALL, WANTED));
}

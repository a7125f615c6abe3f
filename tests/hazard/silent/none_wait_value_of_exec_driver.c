// expect: none
// options: stall_limit=60s
//
// A graph that waits for a word is launched, and again on another stream, where it comes after its
// first launch. The host waits for the first launch. Until it has written the word anew, the source
// of a copy behind the second launch is still to be filled.
#include "values.h"

int main(void)
{
    driver_start();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUstream first = driver_new_stream();
    CUstream second = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, 0);
    volatile uint32_t *go = new_words();
    CUstreamBatchMemOpParams ops[2] = {value_op(CU_STREAM_MEM_OP_WAIT_VALUE_32, go, 1),
                                       value_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, go, 0)};
    CHECK(cuGraphCreate(&graph, 0));
    add_ops(graph, add_ops(graph, NULL, &ops[0], 1), &ops[1], 1);
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    *go = 1;
    CHECK(cuGraphLaunch(exec, first));
    CHECK(cuGraphLaunch(exec, second));
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, second));
    CHECK(cuStreamSynchronize(first));
    fill(source, SMALL, WANTED);
    *go = 1;

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}

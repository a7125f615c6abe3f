// expect: SC403 action=stalled certainty=observed
//
// A copy stands before a node that only waits for a word, added by hand, which tells nobody that
// the copy is done. The word is there from the start. The racy build fills the source before the
// launch is done.
#include "values.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *input = driver_pinned_block(SMALL, WANTED);
    volatile uint32_t *words = new_words();
    CUstreamBatchMemOpParams waits = value_op(CU_STREAM_MEM_OP_WAIT_VALUE_32, words, 1);
    CUgraph graph = new_graph();
    add_ops(graph, add_copy(graph, device, input), &waits, 1);
    CUgraphExec exec = exec_of(graph);

    *words = 1;
    driver_busy(stream);
    CHECK(cuGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(input, SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}

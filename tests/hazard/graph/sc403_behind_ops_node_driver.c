// expect: SC403 action=stalled
//
// A copy stands behind a node that writes a word, added by hand, which tells the program that the
// launch has begun. The racy build takes that for the end of the copy.
#include "values.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *input = driver_pinned_block(SMALL, WANTED);
    volatile uint32_t *words = new_words();
    CUstreamBatchMemOpParams begins = value_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, words, 1);
    CUgraph graph = new_graph();
    CUgraphNode copy = add_copy(graph, device, input);
    CUgraphNode node = add_ops(graph, NULL, &begins, 1);
    CHECK(cuGraphAddDependencies(graph, &node, &copy, NULL, 1));
    CUgraphExec exec = exec_of(graph);

    CHECK(cuGraphLaunch(exec, stream));
    await_word(words, 1);
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(input, SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}

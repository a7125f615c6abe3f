// expect: none
//
// A copy stands behind a node that waits for a word and then writes another one. The program fills
// the source behind the launch, and lets the node go on only then.
#include "values.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *input = driver_pinned_block(SMALL, FOREIGN);
    volatile uint32_t *words = new_words();
    CUstreamBatchMemOpParams list[] = {value_op(CU_STREAM_MEM_OP_WAIT_VALUE_32, &words[0], 1),
                                       value_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, &words[1], 1)};
    CUgraph graph = new_graph();
    CUgraphNode copy = add_copy(graph, device, input);
    CUgraphNode node = add_ops(graph, NULL, list, 2);
    CHECK(cuGraphAddDependencies(graph, &node, &copy, NULL, 1));
    CUgraphExec exec = exec_of(graph);
    bool right = true;
    for (unsigned seed = 1; seed <= 3; seed++) {
        words[0] = words[1] = 0;
        CHECK(cuGraphLaunch(exec, stream));
        fill(input, SMALL, seed);
        words[0] = 1;
        CHECK(cuStreamSynchronize(stream));
        right = right && words[1] == 1 && driver_device_holds(device, SMALL, seed);
    }
    return finish(right);
}

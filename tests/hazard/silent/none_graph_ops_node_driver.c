// expect: none
//
// A copy stands before a node that writes two words, which was added by hand. The program polls the
// second one before it fills the source. In the exec the node is made to write other words, and the
// program polls these; then another node of the general kind does.
#include "values.h"

static bool launch(CUgraphExec exec, CUdeviceptr device, void *input, volatile uint32_t *word,
                   CUstream stream)
{
    fill(input, SMALL, WANTED);
    *word = 0;
    driver_busy(stream);
    CHECK(cuGraphLaunch(exec, stream));
    await_word(word, 1);
    fill(input, SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return driver_device_holds(device, SMALL, WANTED);
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *input = driver_pinned_block(SMALL, 0);
    volatile uint32_t *words = new_words();
    CUstreamBatchMemOpParams list[] = {value_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, &words[0], 1),
                                       value_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, &words[1], 1)};
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode node = add_ops(graph, add_copy(graph, device, input), list, 2);
    CUgraphExec exec = exec_of(graph);
    bool right = launch(exec, device, input, &words[1], stream);

    list[0] = value_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, &words[2], 1);
    list[1] = value_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, &words[3], 1);
    const CUDA_BATCH_MEM_OP_NODE_PARAMS changed = ops_params(list, 2);
    CHECK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &changed));
    right = launch(exec, device, input, &words[3], stream) && right;

    CUgraphNodeParams any;
    CUgraphNode copy = add_copy(other, device, input);
    memset(&any, 0, sizeof any);
    any.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    any.memOp.ctx = changed.ctx;
    any.memOp.count = 1;
    any.memOp.paramArray = list;
    CHECK(cuGraphAddNode(&node, other, &copy, NULL, 1, &any));
    return finish(launch(exec_of(other), device, input, &words[2], stream) && right);
}

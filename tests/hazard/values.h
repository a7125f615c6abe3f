/* For the twins whose graphs have nodes of batch memory operations, added by hand. */
#ifndef SC_TESTS_HAZARD_VALUES_H
#define SC_TESTS_HAZARD_VALUES_H

#include "conditional.h"

static TWIN_HELPER CUstreamBatchMemOpParams value_op(CUstreamBatchMemOpType operation,
                                                     volatile uint32_t *word, uint32_t value)
{
    CUstreamBatchMemOpParams params;
    memset(&params, 0, sizeof params);
    params.operation = operation;
    if (operation == CU_STREAM_MEM_OP_WRITE_VALUE_32) {
        params.writeValue.address = (CUdeviceptr)(uintptr_t)word;
        params.writeValue.value = value;
    } else {
        params.waitValue.address = (CUdeviceptr)(uintptr_t)word;
        params.waitValue.value = value;
        params.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
    }
    return params;
}

static TWIN_HELPER CUDA_BATCH_MEM_OP_NODE_PARAMS ops_params(CUstreamBatchMemOpParams *list,
                                                            unsigned count)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS params;
    memset(&params, 0, sizeof params);
    CHECK(cuCtxGetCurrent(&params.ctx));
    params.count = count;
    params.paramArray = list;
    return params;
}

/* A node behind the other one; NULL: behind none. */
static TWIN_HELPER CUgraphNode add_ops(CUgraph graph, CUgraphNode before,
                                       CUstreamBatchMemOpParams *list, unsigned count)
{
    CUgraphNode node = NULL;
    const CUDA_BATCH_MEM_OP_NODE_PARAMS params = ops_params(list, count);
    CHECK(cuGraphAddBatchMemOpNode(&node, graph, &before, before ? 1 : 0, &params));
    return node;
}

/* Words that the device writes, on a page of their own. */
static TWIN_HELPER volatile uint32_t *new_words(void)
{
    return (volatile uint32_t *)memset(driver_pinned_block(4096, 0), 0, 4096);
}

static TWIN_HELPER void await_word(volatile uint32_t *word, uint32_t value)
{
    while (*word != value)
        usleep(500);
}

#endif

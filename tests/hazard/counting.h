/* Loops whose condition a kernel counts down. Only the simulated GPU knows that kernel, by its
 * name: on a device it would need cudaGraphSetConditional of cudadevrt. */
#ifndef SC_TESTS_HAZARD_COUNTING_H
#define SC_TESTS_HAZARD_COUNTING_H

#include "conditional.h"

static const char counting_kernel_text[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry count_down(\n    .param .u64 condition)\n{\n    ret;\n}\n";

/* Makes the condition one less whenever it runs. */
static TWIN_HELPER void add_count_down(CUgraph graph, CUgraphConditionalHandle handle)
{
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    CUgraphNode node = NULL;
    void *parameters[] = {&handle};
    CHECK(cuModuleLoadData(&module, counting_kernel_text));
    CHECK(cuModuleGetFunction(&kernel, module, "count_down"));
    const CUDA_KERNEL_NODE_PARAMS params = {.func = kernel,
                                            .gridDimX = 1,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = 1,
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .kernelParams = parameters};
    CHECK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
}

/* The body of a new loop that takes so many turns in every launch. */
static TWIN_HELPER CUgraph body_of_loop(CUgraph graph, unsigned turns)
{
    CUgraphConditionalHandle handle = condition_of(graph, turns, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraph body = bodies_behind(graph, NULL, 0, handle, CU_GRAPH_COND_TYPE_WHILE, 1)[0];
    add_count_down(body, handle);
    return body;
}

#endif

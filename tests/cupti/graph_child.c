// run: strict=1 -> held_peak_bytes=0 hazards=0
// run: strict=1 HOW=around -> held_peak_bytes=0 hazards=0
/* A node is added to the graph that a child node has made of its own, and the whole is destroyed:
 * the memory that it named is held for nobody. HOW=around: by calls that pass the wrappers by. */
#include "around.h"

static CUresult (*destroy)(CUgraph);

int main(void)
{
    cudaGraph_t graph, child, own;
    cudaGraphNode_t node, added;
    set_up();
    *(void **)&destroy = around("cuGraphDestroy");
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphCreate(&child, 0));
    CUDA(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    CUDA(cudaGraphChildGraphNodeGetGraph(node, &own));
    CUDA(cudaGraphAddMemcpyNode1D(&added, own, NULL, 0, device, pinned, BYTES,
                                  cudaMemcpyHostToDevice));
    CUDA(getenv("HOW") ? destroy(graph) : (CUresult)cudaGraphDestroy(graph));
    CUDA(cudaGraphDestroy(child));
    CUDA(cudaFreeHost(pinned));
    return 0;
}

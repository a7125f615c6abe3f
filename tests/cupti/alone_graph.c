// inject: 1
// run: strict=1 SIM_GPU=delay=0 -> hazard:event.runtime_api=cudaGraphLaunch exit=66
// run: mode=report SIM_GPU=delay=0 -> hazard:code=SC401 hazard:freed.runtime_api=cudaFreeHost
// run: strict=1 KEPT=1 -> hazards=0
/* A graph is launched after its memory was freed, without the preload. The real driver reads the
 * memory in the launch, and dies of that. */
#include "profiler.h"

int main(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaMalloc(&device, BYTES));
    CUDA(cudaMallocHost(&pinned, BYTES));
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CUDA(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    if (!getenv("KEPT"))
        CUDA(cudaFreeHost(pinned));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaGraphExecDestroy(exec));
    if (getenv("KEPT"))
        CUDA(cudaFreeHost(pinned));
    return 0;
}

// run: strict=1 -> hazard:copy.runtime_api=cudaMemcpyAsync exit=66
// run: strict=1 -> hazard:event.runtime_api=cudaGraphLaunch exit=66
// run: strict=1 -> hazard:freed.runtime_api=cudaFreeHost hazard:code=SC401 exit=66
/* What a captured call was, what freed its memory, and what launched it. */
#include "profiler.h"

int main(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    set_up();
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CUDA(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    return 0;
}

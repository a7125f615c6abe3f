// run: timeline=1 -> timeline.matched=1 timing:code=SC101 timing:remaining_ns>0
// sim: late_limit=10s:bandwidth=10M
/* A launch uses memory that is freed meanwhile: its times are those of the graph's copies, from the
 * first one's start to the last one's end. */
#include "timeline.h"

int main(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    set_up();
    void *source = registered(BYTES);
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CUDA(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    CUDA(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, stream));
    CUDA(cudaMemsetAsync(device, 0, BYTES, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaLaunchHostFunc(stream, note_begin, NULL));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaLaunchHostFunc(stream, note_end, NULL));
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    free(source);
    CUDA(cudaStreamSynchronize(stream));
    struct timing timing = wait_for_timing(1);
    check_between(&timing);
    if (getenv("SIM_GPU")) /* three times 4 KB at 10 MB/s */
        CHECK(timing.end_ns - timing.start_ns >= 1200 * 1000);
    return 0;
}

// run: timeline=1 -> timeline.dropped>0 timeline.records>40000 timeline.matched=1
// needs: sim
// sim: late_limit=60s
/* More copies held at one time than there are buffers for: what finds none is dropped and counted,
 * and when those have come back the timeline goes on. (A real stream holds some thousand.) */
#include "timeline.h"

enum { COPIES = 50000 };

int main(void)
{
    set_up();
    void *source = registered(BLOCK);
    CUDA(cudaFree(device));
    CUDA(cudaMalloc(&device, BLOCK));
    for (int i = 0; i < COPIES; i++)
        CUDA(cudaMemsetAsync(device, i, 1, stream));
    CUDA(cudaStreamSynchronize(stream));
    sleep_patiently(500000); /* the buffers come back */
    CUDA(cudaLaunchHostFunc(stream, note_begin, NULL));
    CUDA(cudaMemcpyAsync(device, source, BLOCK, cudaMemcpyHostToDevice, stream));
    CUDA(cudaLaunchHostFunc(stream, note_end, NULL));
    free(source);
    CUDA(cudaStreamSynchronize(stream));
    struct timing timing = wait_for_timing(1);
    check_between(&timing);
    return 0;
}

// inject: 1
// run: timeline=1 RACY=1 -> timeline.state=listening timeline.matched=1 timing:remaining_ns>0
// run: -> cupti.state=listening coverage.calls=3 coverage.wrapped=0 coverage.missed=0 hazards=0
// run: strict=1 -> hazards=0 #coverage=0
// run: RACY=1 -> hazard:code=SC105 hazard:action=stalled hazard:copy.runtime_api=cudaMemcpyAsync
// run: strict=1 RACY=1 -> hazard:event.runtime_api=cudaFreeHost exit_status=66 exit=66
// run: mode=report RACY=1 -> hazard:code=SC105 hazard:action=reported
// run: cupti=off ->
// run: mode=off ->
/* The library is not preloaded: the driver loads it, and CUPTI tells it what the program does. */
#include "profiler.h"

#include "tests/patience.h"

/* So that the copy behind it is still to come when its source is freed. */
static void CUDART_CB hold(void *unused)
{
    (void)unused;
    sleep_patiently(100000);
}

int main(void)
{
    CUDA(cudaMalloc(&device, BYTES));
    CUDA(cudaMallocHost(&pinned, BYTES));
    CUDA(cudaStreamCreate(&stream));
    if (getenv("RACY"))
        CUDA(cudaLaunchHostFunc(stream, hold, NULL));
    CUDA(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    if (!getenv("RACY"))
        CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFreeHost(pinned));
    return 0;
}

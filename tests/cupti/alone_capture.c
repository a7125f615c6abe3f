// inject: 1
// run: strict=1 -> hazard:code=SC301 hazard:action=reported exit=66
// run: strict=1 QUIET=1 -> hazards=0
/* The legacy stream is used while a blocking stream captures, without the preload: the capture
 * breaks as it does without the library, and the report says who did it. */
#include "profiler.h"

int main(void)
{
    cudaGraph_t graph = NULL;
    CUDA(cudaMalloc(&device, BYTES));
    CUDA(cudaMallocHost(&pinned, BYTES));
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CUDA(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    if (!getenv("QUIET"))
        CHECK(cudaMemset(device, 0, BYTES) == cudaErrorStreamCaptureImplicit);
    cudaError_t result = cudaStreamEndCapture(stream, &graph);
    CHECK(result == (getenv("QUIET") ? cudaSuccess : cudaErrorStreamCaptureInvalidated));
    CUDA(cudaFreeHost(pinned));
    return 0;
}

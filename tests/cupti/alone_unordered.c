// inject: 1
// run: strict=1 -> hazard:code=SC204 hazard:action=ordered exit=66
// run: mode=report -> hazard:code=SC204 hazard:action=reported
// run: strict=1 ORDERED=1 -> hazards=0
/* Two streams use one buffer, without the preload. */
#include "profiler.h"

int main(void)
{
    cudaStream_t second;
    cudaEvent_t event;
    CUDA(cudaMalloc(&device, BYTES));
    CUDA(cudaMallocHost(&pinned, BYTES));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&event));
    CUDA(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaEventRecord(event, stream));
    if (getenv("ORDERED"))
        CUDA(cudaStreamWaitEvent(second, event, 0));
    CUDA(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, second));
    CUDA(cudaStreamSynchronize(second));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFreeHost(pinned));
    return 0;
}

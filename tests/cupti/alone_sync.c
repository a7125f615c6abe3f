// inject: 1
// run: strict=1 HOW=up -> hazard:code=SC202 hazard:event.api=cuMemcpyHtoD_v2 hazards=1 exit=66
// run: mode=report HOW=up -> hazard:code=SC202 hazard:action=reported hazards=1
// run: strict=1 HOW=down -> hazard:code=SC203 hazard:event.api=cuMemcpyDtoH_v2 exit=66
// run: strict=1 HOW=fill -> hazard:code=SC203 hazard:action=reported hazards=1 exit=66
// run: strict=1 HOW=up ORDERED=1 -> hazards=0
// run: strict=1 HOW=down ORDERED=1 -> hazards=0
// run: strict=1 HOW=fill ORDERED=1 -> hazards=0
/* A synchronous call meets a copy in flight on another stream, without the preload: by then it has
 * been carried out. */
#include "profiler.h"

int main(void)
{
    const char *how = getenv("HOW");
    cudaEvent_t event;
    void *other;
    set_up();
    CUDA(cudaMalloc(&other, BYTES));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&event));
    CUDA(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaEventRecord(event, stream));
    if (getenv("ORDERED"))
        CUDA(cudaStreamWaitEvent(0, event, 0));
    if (strcmp(how, "up") == 0)
        CUDA(cudaMemcpy(other, pinned, BYTES, cudaMemcpyHostToDevice));
    else if (strcmp(how, "down") == 0)
        CUDA(cudaMemcpy(pinned, other, BYTES, cudaMemcpyDeviceToHost));
    else
        CUDA(cudaMemset(pinned, 0, BYTES));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFreeHost(pinned));
    return 0;
}

// run: strict=1 -> coverage.missed=12 hazards=0
// run: mode=report -> coverage.missed=12 hazards=0
// run: strict=1 RACY=1 -> coverage.missed=11 hazard:event.api=cuMemFreeHost exit=66
/* A correct program of which nothing comes through a wrapper: once a call was missed, waits and
 * events are heard as well, and nobody is accused. The racy one frees without a wait. */
#include "around.h"

int main(void)
{
    void *first, *registered = aligned_alloc(BYTES, BYTES);
    cudaStream_t second;
    cudaEvent_t event;
    CUDA(cudaMalloc(&device, BYTES));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&event));
    go_around();

    CUDA(direct.allocate_host(&first, BYTES, 0));
    CUDA(direct.register_host(registered, BYTES, 0));
    for (int i = 0; i < 2; i++) {
        CUDA(direct.copy(on_device(), first, BYTES, stream));
        CUDA(direct.record(event, stream));
        CUDA(direct.wait(second, event, 0));
        CUDA(direct.copy_back(first, on_device(), BYTES, second));
        CUDA(direct.copy_back(registered, on_device(), BYTES, second));
        CUDA(direct.synchronize(second));
    }
    CUDA(direct.unregister_host(registered));
    CUDA(direct.copy(on_device(), first, BYTES, second));
    if (!getenv("RACY"))
        CUDA(direct.synchronize(second));
    if (!getenv("RACY"))
        CUDA(direct.copy(on_device(), first, BYTES, second));
    if (!getenv("RACY"))
        CUDA(direct.synchronize(second));
    CUDA(direct.free_host(first));
    return 0;
}

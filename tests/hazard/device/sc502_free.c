// expect: SC502 action=ordered kind=device origin=cuMemAllocAsync direction=D2H certainty=observed
// options: device=1
//
// Memory is freed in one stream's order while another stream still has to read it, and the next
// allocation gets it.
#include "twin.h"

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t downloaded = new_event();
    void *target = pinned_block(LARGE, 0);
    void *source = pinned_block(LARGE, WANTED);
    void *device = NULL;
    void *next = NULL;

    CHECK(cudaMallocAsync(&device, LARGE, other));
    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, other));
    CHECK(cudaStreamSynchronize(other));
    busy(down);
    CHECK(cudaMemcpyAsync(target, device, LARGE, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(downloaded, down));
    if (fixed)
        CHECK(cudaStreamWaitEvent(other, downloaded, 0));
    CHECK(cudaFreeAsync(device, other));
    CHECK(cudaMallocAsync(&next, LARGE, other));
    CHECK(cudaMemsetAsync(next, FOREIGN, LARGE, other));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, LARGE, WANTED));
}

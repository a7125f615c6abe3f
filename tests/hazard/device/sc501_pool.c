// expect: SC501 action=ordered origin=cuMemAllocFromPoolAsync direction=H2D event=cuMemcpyDtoH*
// options: device=1
//
// Memory of a pool of the program's own: its allocation comes first of all, and the upload into it
// is not in order with the download.
#include "pools.h"

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t down = new_stream();
    cudaEvent_t allocated = new_event();
    cudaEvent_t uploaded = new_event();
    cudaMemPool_t pool = new_pool(UINT64_MAX);
    void *target = pinned_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    void *device = pool_block(SMALL, pool, up);

    CHECK(cudaEventRecord(allocated, up));
    CHECK(cudaStreamWaitEvent(down, allocated, 0));
    busy(up);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, up));
    CHECK(cudaEventRecord(uploaded, up));
    if (fixed)
        CHECK(cudaStreamWaitEvent(down, uploaded, 0));
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, down));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, WANTED));
}

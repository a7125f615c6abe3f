// expect: SC501 action=ordered kind=device origin=cuMemAlloc_v2 direction=H2D certainty=observed
// options: device=1
//
// The bytes of a pageable source are taken in the call, but land when the stream gets there.
#include "twin.h"

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t down = new_stream();
    cudaEvent_t uploaded = new_event();
    void *source = filled_block(4096, WANTED);
    void *target = pinned_block(4096, 0);
    void *device = device_block(4096, FOREIGN);

    busy(up);
    CHECK(cudaMemcpyAsync(device, source, 4096, cudaMemcpyHostToDevice, up));
    CHECK(cudaEventRecord(uploaded, up));
    if (fixed)
        CHECK(cudaStreamWaitEvent(down, uploaded, 0));
    CHECK(cudaMemcpyAsync(target, device, 4096, cudaMemcpyDeviceToHost, down));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, 4096, WANTED));
}

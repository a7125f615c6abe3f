// expect: SC501 action=ordered kind=device origin=cuMemAlloc_v2 direction=H2D certainty=observed
// options: device=1
//
// One stream uploads, another downloads the same device memory, and no event joins the two.
#include "twin.h"

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t down = new_stream();
    cudaEvent_t uploaded = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    void *device = device_block(SMALL, FOREIGN);

    busy(up);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, up));
    CHECK(cudaEventRecord(uploaded, up));
    if (fixed)
        CHECK(cudaStreamWaitEvent(down, uploaded, 0));
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, down));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, WANTED));
}

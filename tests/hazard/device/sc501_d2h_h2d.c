// expect: SC501 action=ordered kind=device origin=cuMemAlloc_v2 direction=D2H certainty=observed
// options: device=1
//
// A download waits for its turn when another stream's upload is told to overwrite the device
// memory.
#include "twin.h"

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t up = new_stream();
    cudaEvent_t downloaded = new_event();
    void *source = pinned_block(SMALL, FOREIGN);
    void *target = pinned_block(SMALL, 0);
    void *device = device_block(SMALL, WANTED);

    busy(down);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(downloaded, down));
    if (fixed)
        CHECK(cudaStreamWaitEvent(up, downloaded, 0));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, WANTED) && device_holds(device, SMALL, FOREIGN));
}

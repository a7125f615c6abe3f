// expect: SC204 action=ordered kind=pinned certainty=observed
//
// A copy waits to read the buffer when another stream's copy is told to overwrite it.
#include "twin.h"

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t down = new_stream();
    cudaEvent_t read = new_event();
    void *to = device_block(SMALL, 0);
    void *from = device_block(SMALL, FOREIGN);
    void *buffer = pinned_block(SMALL, WANTED);

    busy(up);
    CHECK(cudaMemcpyAsync(to, buffer, SMALL, cudaMemcpyHostToDevice, up));
    CHECK(cudaEventRecord(read, up));
    if (fixed)
        CHECK(cudaStreamWaitEvent(down, read, 0));
    CHECK(cudaMemcpyAsync(buffer, from, SMALL, cudaMemcpyDeviceToHost, down));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED) && holds(buffer, SMALL, FOREIGN));
}

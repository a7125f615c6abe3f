// expect: none
// needs: sim
// options: stall_limit=60s
//
// Synchronous copies and memsets beside the bytes of copies in flight, in the same buffers: who
// made one wait for those would wait for ever.
// On an H200 one of the calls waits for the gate, also without the library; which one is not known.
#include "touch.h"

int main(void)
{
    struct gate gate = {false, false};
    cudaStream_t stream = new_stream();
    char *device = (char *)device_block(SMALL, 0);
    char *from = (char *)device_block(SMALL, WANTED);
    char *source = (char *)pinned_block(SMALL, WANTED);
    char *target = (char *)pinned_block(SMALL, 0);
    const size_t half = SMALL / 2;

    shut_gate(&gate, stream);
    CHECK(cudaMemcpyAsync(device, source, half, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(target, from, half, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpy(source + half, from, half, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(device + half, source + half, half, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(source + half, 0, half));
    CHECK(cudaMemcpy(target + half, from + half, half, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(source + half, target + half, half, cudaMemcpyHostToHost));
    CHECK(cudaMemcpy(target, from, 0, cudaMemcpyDeviceToHost));
    open_gate(&gate);

    CHECK(cudaDeviceSynchronize());
    fill(source, SMALL, WANTED);
    return finish(!gate.gave_up && holds(target, SMALL, WANTED) &&
                  device_holds(device, half, WANTED) && device_holds(device + half, half, WANTED));
}

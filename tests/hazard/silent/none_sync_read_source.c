// expect: none
// options: stall_limit=60s
//
// A source in flight is read by synchronous copies, to the device and to host memory.
#include "touch.h"

int main(void)
{
    struct gate gate = {false, false};
    cudaStream_t stream = new_stream();
    void *one = device_block(SMALL, 0);
    void *two = device_block(SMALL, 0);
    void *kept = filled_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);

    shut_gate(&gate, stream);
    CHECK(cudaMemcpyAsync(one, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpy(two, source, SMALL, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(kept, source, SMALL, cudaMemcpyHostToHost));
    open_gate(&gate);

    CHECK(cudaDeviceSynchronize());
    return finish(!gate.gave_up && holds(kept, SMALL, WANTED) && device_holds(one, SMALL, WANTED) &&
                  device_holds(two, SMALL, WANTED));
}

// expect: none
// needs: sim
// options: stall_limit=60s
//
// Synchronous copies and memsets of the columns right of those that are in flight.
// On an H200 one of the calls waits for the gate, also without the library; which one is not known.
#include "touch.h"

enum { PITCH = 512, LEFT = 200, RIGHT = PITCH - LEFT, ROWS = 64 };

int main(void)
{
    struct gate gate = {false, false};
    cudaStream_t stream = new_stream();
    char *device = (char *)device_block(PITCH * ROWS, 0);
    char *from = (char *)device_block(PITCH * ROWS, WANTED);
    char *source = (char *)pinned_block(PITCH * ROWS, WANTED);
    char *target = (char *)pinned_block(PITCH * ROWS, 0);

    shut_gate(&gate, stream);
    CHECK(cudaMemcpy2DAsync(device, PITCH, source, PITCH, LEFT, ROWS, cudaMemcpyHostToDevice,
                            stream));
    CHECK(
        cudaMemcpy2DAsync(target, PITCH, from, PITCH, LEFT, ROWS, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemset2D(source + LEFT, PITCH, 0xee, RIGHT, ROWS));
    CHECK(cudaMemcpy2D(source + LEFT, PITCH, from + LEFT, PITCH, RIGHT, ROWS,
                       cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy2D(device + LEFT, PITCH, source + LEFT, PITCH, RIGHT, ROWS,
                       cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2D(target + LEFT, PITCH, from + LEFT, PITCH, RIGHT, ROWS,
                       cudaMemcpyDeviceToHost));
    open_gate(&gate);

    CHECK(cudaDeviceSynchronize());
    return finish(!gate.gave_up && holds(target, PITCH * ROWS, WANTED) &&
                  device_holds(device, PITCH * ROWS, WANTED));
}

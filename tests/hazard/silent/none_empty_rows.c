// expect: none
// options: device=1
//
// Memsets of no rows, or of rows that have no width, amid host and device memory that a copy in
// flight uses: nothing is set.
#include "touch.h"

enum { PITCH = 64, ROWS = 9, WIDTH = 5 };

int main(void)
{
    struct gate gate = {0};
    cudaStream_t upload = new_stream();
    cudaStream_t other = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *device = device_block(SMALL, 0);

    shut_gate(&gate, upload);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, upload));
    CHECK(cudaMemset2DAsync(device, PITCH, 0xee, 0, ROWS, other));
    CHECK(cudaMemset2DAsync(source, PITCH, 0xee, 0, ROWS, other));
    CHECK(cudaMemset2DAsync(device, PITCH, 0xee, WIDTH, 0, other));
    CHECK(cudaMemset2D(device, PITCH, 0xee, 0, ROWS));
    CHECK(cudaMemset2D(source, PITCH, 0xee, 0, ROWS));
    CHECK(cudaMemset2D(source, PITCH, 0xee, WIDTH, 0));
    open_gate(&gate);

    CHECK(cudaDeviceSynchronize());
    return finish(!gate.gave_up && device_holds(device, SMALL, WANTED));
}

// expect: none
//
// The left columns of a matrix are in flight, out of one matrix and into another; the program works
// in the right columns.
#include "touch.h"

enum { PITCH = 512, WIDTH = 200, ROWS = 128 };

static unsigned char *row_end(void *matrix, int row)
{
    return (unsigned char *)matrix + (size_t)row * PITCH + WIDTH;
}

int main(void)
{
    const size_t bytes = (size_t)PITCH * ROWS;
    struct gate gate = {0};
    cudaStream_t stream = new_stream();
    void *to = device_block(bytes, WANTED);
    void *from = device_block(bytes, WANTED);
    void *source = pinned_block(bytes, WANTED);
    void *target = pinned_block(bytes, 0);
    CHECK(cudaMemset2D(to, PITCH, 0, WIDTH, ROWS));
    CHECK(cudaDeviceSynchronize());

    shut_gate(&gate, stream);
    CHECK(cudaMemcpy2DAsync(to, PITCH, source, PITCH, WIDTH, ROWS, cudaMemcpyHostToDevice, stream));
    CHECK(
        cudaMemcpy2DAsync(target, PITCH, from, PITCH, WIDTH, ROWS, cudaMemcpyDeviceToHost, stream));
    for (int row = 0; row < ROWS; row++) {
        memset(row_end(source, row), 0xee, PITCH - WIDTH);
        memset(row_end(target, row), 0xdd, PITCH - WIDTH);
    }
    open_gate(&gate);

    CHECK(cudaStreamSynchronize(stream));
    bool right = !gate.gave_up && device_holds(to, bytes, WANTED);
    for (int row = 0; row < ROWS; row++) {
        const unsigned char *end = row_end(target, row);
        right = right && end[0] == 0xdd && end[PITCH - WIDTH - 1] == 0xdd;
        right = right && end[-1] == pattern(WANTED, (size_t)row * PITCH + WIDTH - 1);
    }
    return finish(right);
}

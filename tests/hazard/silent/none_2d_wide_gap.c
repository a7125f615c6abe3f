// expect: none
//
// A 2D copy whose rows are pages apart: what lies between them belongs to the program.
#include "touch.h"

enum { PITCH = 20000, WIDTH = 100, ROWS = 16 };

int main(void)
{
    const size_t bytes = (size_t)PITCH * ROWS;
    struct gate gate = {0};
    cudaStream_t stream = new_stream();
    void *device = device_block((size_t)WIDTH * ROWS, WANTED);
    char *target = (char *)pinned_block(bytes, 0);

    shut_gate(&gate, stream);
    CHECK(cudaMemcpy2DAsync(target, PITCH, device, WIDTH, WIDTH, ROWS, cudaMemcpyDeviceToHost,
                            stream));
    for (int row = 0; row < ROWS; row++)
        memset(target + (size_t)row * PITCH + WIDTH, 0xee, PITCH - WIDTH);
    open_gate(&gate);

    CHECK(cudaStreamSynchronize(stream));
    bool right = !gate.gave_up;
    for (size_t i = 0; i < (size_t)WIDTH * ROWS; i++) {
        unsigned char got = (unsigned char)target[i / WIDTH * PITCH + i % WIDTH];
        right = right && got == pattern(WANTED, i);
    }
    for (int row = 0; row < ROWS; row++)
        right = right && target[(size_t)row * PITCH + WIDTH] == (char)0xee;
    return finish(right);
}

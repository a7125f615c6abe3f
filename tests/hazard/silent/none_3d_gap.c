// expect: none
//
// A 3D copy of one corner of a volume, in each direction: the program works in the columns and the
// rows beside it.
#include "touch.h"

enum { PITCH = 512, WIDTH = 200, HEIGHT = 16, ROWS = 24, DEPTH = 8 };

static void work_beside(char *volume)
{
    for (int z = 0; z < DEPTH; z++) {
        char *slice = volume + (size_t)z * PITCH * ROWS;
        for (int y = 0; y < HEIGHT; y++)
            memset(slice + (size_t)y * PITCH + WIDTH, 0xee, PITCH - WIDTH);
        memset(slice + (size_t)HEIGHT * PITCH, 0xee, (size_t)PITCH * (ROWS - HEIGHT));
    }
}

static void copy_corner(void *to, void *from, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct cudaMemcpy3DParms box = {
        .srcPtr = {from, PITCH, PITCH, ROWS},
        .dstPtr = {to, PITCH, PITCH, ROWS},
        .extent = {WIDTH, HEIGHT, DEPTH},
        .kind = kind,
    };
    CHECK(cudaMemcpy3DAsync(&box, stream));
}

int main(void)
{
    const size_t bytes = (size_t)PITCH * ROWS * DEPTH;
    struct gate gate = {0};
    cudaStream_t stream = new_stream();
    void *to = device_block(bytes, 0);
    void *from = device_block(bytes, WANTED);
    void *source = pinned_block(bytes, WANTED);
    void *target = pinned_block(bytes, 0);

    shut_gate(&gate, stream);
    copy_corner(to, source, cudaMemcpyHostToDevice, stream);
    copy_corner(target, from, cudaMemcpyDeviceToHost, stream);
    work_beside((char *)source);
    work_beside((char *)target);
    open_gate(&gate);

    CHECK(cudaStreamSynchronize(stream));
    size_t last = ((size_t)(DEPTH - 1) * ROWS + HEIGHT - 1) * PITCH + WIDTH - 1;
    return finish(!gate.gave_up && peek(target, 0) && peek(target, last) &&
                  !peek(target, last + 1));
}

// expect: SC204 action=ordered kind=pinned certainty=observed
//
// One stream brings a corner of a volume, another carries on a corner that has its last byte.
#include "twin.h"

enum { PITCH = 128, ROWS = 16, DEPTH = 32, WIDTH = 64, HEIGHT = 8, HALF = DEPTH / 2 };

static void copy_corner(void *to, void *from, struct cudaPos at, enum cudaMemcpyKind kind,
                        cudaStream_t stream)
{
    struct cudaMemcpy3DParms box = {
        .srcPtr = {from, PITCH, PITCH, ROWS},
        .dstPtr = {to, PITCH, PITCH, ROWS},
        .srcPos = at,
        .dstPos = at,
        .extent = {WIDTH, HEIGHT, HALF},
        .kind = kind,
    };
    CHECK(cudaMemcpy3DAsync(&box, stream));
}

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t up = new_stream();
    cudaEvent_t arrived = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *volume = pinned_block(SMALL, FOREIGN);
    size_t shared = ((size_t)(HALF - 1) * ROWS + HEIGHT - 1) * PITCH + WIDTH - 1;
    unsigned char byte = 0, wanted[64 << 10];
    fill(wanted, sizeof wanted, WANTED);

    busy(down);
    copy_corner(volume, from, (struct cudaPos){0, 0, 0}, cudaMemcpyDeviceToHost, down);
    CHECK(cudaEventRecord(arrived, down));
    if (fixed)
        CHECK(cudaStreamWaitEvent(up, arrived, 0));
    copy_corner(to, volume, (struct cudaPos){WIDTH - 1, HEIGHT - 1, HALF - 1},
                cudaMemcpyHostToDevice, up);

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&byte, (char *)to + shared, 1, cudaMemcpyDeviceToHost));
    return finish(byte == wanted[shared]);
}

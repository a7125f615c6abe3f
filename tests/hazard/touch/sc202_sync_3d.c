// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A synchronous copy of one corner of a volume, whose last byte is the first of another corner that
// is still to come.
#include "twin.h"

enum { PITCH = 128, ROWS = 16, DEPTH = 32, WIDTH = 64, HEIGHT = 8, HALF = DEPTH / 2 };

static struct cudaMemcpy3DParms corner(void *to, void *from, struct cudaPos at,
                                       enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms box = {
        .srcPtr = {from, PITCH, PITCH, ROWS},
        .dstPtr = {to, PITCH, PITCH, ROWS},
        .srcPos = at,
        .dstPos = at,
        .extent = {WIDTH, HEIGHT, HALF},
        .kind = kind,
    };
    return box;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *volume = pinned_block(SMALL, FOREIGN);
    struct cudaMemcpy3DParms brought = corner(
        volume, from, (struct cudaPos){WIDTH - 1, HEIGHT - 1, HALF - 1}, cudaMemcpyDeviceToHost);
    struct cudaMemcpy3DParms sent =
        corner(to, volume, (struct cudaPos){0, 0, 0}, cudaMemcpyHostToDevice);
    size_t shared = ((size_t)(HALF - 1) * ROWS + HEIGHT - 1) * PITCH + WIDTH - 1;
    unsigned char byte = 0, wanted[64 << 10];
    fill(wanted, sizeof wanted, WANTED);

    busy(stream);
    CHECK(cudaMemcpy3DAsync(&brought, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy3D(&sent));

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&byte, (char *)to + shared, 1, cudaMemcpyDeviceToHost));
    return finish(byte == wanted[shared]);
}

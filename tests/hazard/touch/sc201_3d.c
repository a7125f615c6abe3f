// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A 3D copy, and a write into the last row of one of its slices.
#include "touch.h"

enum { PITCH = 512, WIDTH = 200, ROWS = 16, DEPTH = 8 };

int main(void)
{
    const size_t bytes = (size_t)PITCH * ROWS * DEPTH;
    const size_t where = ((size_t)3 * ROWS + ROWS - 1) * PITCH + WIDTH - 1;
    unsigned char sent = 0;
    cudaStream_t stream = new_stream();
    unsigned char *device = (unsigned char *)device_block(bytes, 0);
    void *source = pinned_block(bytes, WANTED);
    struct cudaMemcpy3DParms box = {
        .srcPtr = {source, PITCH, PITCH, ROWS},
        .dstPtr = {device, PITCH, PITCH, ROWS},
        .extent = {WIDTH, ROWS, DEPTH},
        .kind = cudaMemcpyHostToDevice,
    };

    busy(stream);
    CHECK(cudaMemcpy3DAsync(&box, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(source, where);

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&sent, device + where, 1, cudaMemcpyDeviceToHost));
    return finish(sent == pattern(WANTED, where));
}

// expect: none
//
// Many blocking streams come, capture once and go: nothing stays of them.
#include "graphs.h"

enum { STREAMS = 6000 };

static void capture_once(void *device, const void *source)
{
    cudaStream_t stream = NULL;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaGraphDestroy(captured_copy(device, source, 64, cudaMemcpyHostToDevice, stream)));
    CHECK(cudaStreamDestroy(stream));
}

int main(void)
{
    void *device = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    for (unsigned i = 0; i < STREAMS / 10; i++)
        capture_once(device, source);
    size_t before = resident_bytes();
    for (unsigned i = 0; i < STREAMS; i++)
        capture_once(device, source);
    return finish(resident_bytes() < before + LARGE);
}

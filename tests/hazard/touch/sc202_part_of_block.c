// expect: SC202 action=stalled kind=pinned certainty=observed
// options: guard=uffd
//
// A result comes down into a part of a pinned block of 6 MB, across the border of two of its areas
// of 2 MB, which were used whole before, and in parts. The other parts are read and written
// meanwhile.
#include "touch.h"

#include <unistd.h>

static const size_t BLOCK = (size_t)6 << 20;
static const size_t AT = ((size_t)2 << 20) - 30000;
static const size_t PART = 70000;

int main(void)
{
    cudaStream_t stream = new_stream();
    unsigned char *block = (unsigned char *)pinned_block(BLOCK, 0);
    void *all = device_block(BLOCK, 5);
    void *result = device_block(PART, WANTED);
    CHECK(cudaMemcpyAsync(block, all, BLOCK, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 20; i++) {
        CHECK(cudaMemcpyAsync(block + AT, all, PART, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        usleep(100);
    }

    busy(stream);
    CHECK(cudaMemcpyAsync(block + AT, result, PART, cudaMemcpyDeviceToHost, stream));
    block[AT - 8192] = 1;
    block[AT + PART + 8192] = 1;
    bool right = block[BLOCK / 2] == pattern(5, BLOCK / 2);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    right = peek(block + AT, 0) && right;
    right = peek(block + AT, PART - 1) && right;

    CHECK(cudaDeviceSynchronize());
    return finish(right && holds(block + AT, PART, WANTED));
}

// expect: none
//
// Loads and stores of every size that end where a result begins, which the device sends only when
// they are done.
#include "touch.h"

enum { BYTES = 64, BEFORE = 4096 - BYTES };

typedef unsigned char vector __attribute__((vector_size(16)));

int main(void)
{
    struct gate gate = {0};
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, WANTED);
    unsigned char *block = (unsigned char *)pinned_block(BEFORE + BYTES, 0);
    unsigned char *result = block + BEFORE;
    unsigned char from[BYTES] = {1};
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    memset(block, 0, BEFORE);

    shut_gate(&gate, stream);
    CHECK(cudaMemcpyAsync(result, device, BYTES, cudaMemcpyDeviceToHost, stream));
    uint64_t sum = *(volatile uint8_t *)(result - 1);
    sum += *(volatile uint16_t *)(result - 2);
    sum += *(volatile uint32_t *)(result - 4);
    sum += *(volatile uint64_t *)(result - 8);
    sum += (*(volatile vector *)(result - 16))[3];
    for (size_t size = 1; size <= BYTES; size++) {
        unsigned char into[BYTES];
        copy(into, result - size, size);
        sum += into[0];
    }
    *(volatile uint64_t *)(result - 8) = 0x0101010101010101;
    *(volatile uint32_t *)(result - 4) = 0x01010101;
    *(volatile vector *)(result - 16) = (vector){1};
    copy(result - BYTES, from, BYTES);
    open_gate(&gate);

    CHECK(cudaStreamSynchronize(stream));
    return finish(!gate.gave_up && sum == 0 && holds(result, BYTES, WANTED));
}

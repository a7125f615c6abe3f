// expect: SC201 kind=stack event=return
// sim: late_batch=1
//
// docs/wild-bugs.md, row 29: a scalar is set from a temporary of four bytes on the stack, by a
// batch copy in stream order. The function has returned before a late driver reads it, and its
// stack is the next function's. Nothing is freed at all.
#include "batch.h"

#include <cstdint>

static __attribute__((noinline)) void set_value(void *device, uint32_t value, cudaStream_t stream)
{
    uint32_t temporary = value * 3;
    batch_copy(device, &temporary, sizeof temporary, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
}

static __attribute__((noinline)) unsigned use_stack(unsigned seed)
{
    volatile unsigned words[256];
    for (unsigned i = 0; i < 256; i++)
        words[i] = seed + i;
    return words[seed % 256];
}

int main()
{
    cudaStream_t stream = new_stream();
    void *device = device_block(64, 0);
    uint32_t found = 0;

    set_value(device, 1000, stream);
    unsigned used = use_stack(77);

    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(&found, device, sizeof found, cudaMemcpyDeviceToHost));
    return finish(found == 3000 && used == 77 + 77);
}

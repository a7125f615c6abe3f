// expect: none
// in-place: wrong
//
// Many graphs of a source on the stack come and go while its frame lives: their copies of it go
// with them.
#include "graphs.h"

enum { ROUNDS = 3000, BYTES = 4096 };

static bool use_graph(void *device, unsigned seed, cudaStream_t stream)
{
    unsigned char local[BYTES];
    fill(local, BYTES, seed);
    cudaGraphExec_t exec = captured_exec(device, local, BYTES, cudaMemcpyHostToDevice, stream);
    replay(exec, stream);
    CHECK(cudaGraphExecDestroy(exec));
    return device_holds(device, BYTES, seed);
}

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);
    for (unsigned i = 0; i < ROUNDS / 10; i++)
        right = use_graph(device, i, stream) && right;
    size_t before = resident_bytes();
    for (unsigned i = 0; i < ROUNDS; i++)
        right = use_graph(device, i, stream) && right;
    return finish(right && resident_bytes() < before + 2 * LARGE);
}

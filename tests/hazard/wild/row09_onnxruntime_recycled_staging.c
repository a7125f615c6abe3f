// expect: SC403 action=stalled certainty=observed
//
// docs/wild-bugs.md, row 9: the upload of a captured graph reads a pinned staging block that has
// gone back to the arena. A replay reads it again, while the arena's next customer fills it.
#include "graphs.h"

enum { BLOCKS = 4 };

struct arena {
    void *free_blocks[BLOCKS];
    int count;
};

static void *take(struct arena *arena)
{
    return arena->free_blocks[--arena->count];
}

static void give(struct arena *arena, void *block)
{
    arena->free_blocks[arena->count++] = block;
}

int main(void)
{
    struct arena arena = {.count = 0};
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    for (int i = 0; i < BLOCKS; i++)
        give(&arena, pinned_block(SMALL, 0));

    void *staging = take(&arena);
    fill(staging, SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, staging, SMALL, cudaMemcpyHostToDevice, stream);
    if (!fixed)
        give(&arena, staging);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    void *customer = take(&arena);
    fill(customer, SMALL, FOREIGN);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, SMALL, WANTED) && holds(customer, SMALL, FOREIGN));
}

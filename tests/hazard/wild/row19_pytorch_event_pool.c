// expect: none
//
// docs/wild-bugs.md, row 19: a caching host allocator as PyTorch has it. A block that goes back to
// the cache is covered by one event per stream that used it, and is handed out, or given back to
// the driver, only after those events have been seen complete. Nothing here may be reported.
#include "twin.h"

enum { STREAMS = 2, ROUNDS = 6 };

struct block {
    void *memory;
    cudaEvent_t covers[STREAMS];
    bool recorded[STREAMS];
};

static void record_use(struct block *block, int which, cudaStream_t stream)
{
    CHECK(cudaEventRecord(block->covers[which], stream));
    block->recorded[which] = true;
}

/* True once every stream that used the block is known to be past its use. */
static bool reusable(struct block *block)
{
    for (int i = 0; i < STREAMS; i++) {
        if (!block->recorded[i])
            continue;
        cudaError_t result = cudaEventQuery(block->covers[i]);
        if (result == cudaErrorNotReady)
            return false;
        CHECK(result);
        block->recorded[i] = false;
    }
    return true;
}

int main(void)
{
    bool right = true;
    cudaStream_t streams[STREAMS] = {new_stream(), new_stream()};
    void *devices[STREAMS] = {device_block(SMALL, 0), device_block(SMALL, 0)};
    struct block block = {.memory = pinned_block(SMALL, 0)};
    for (int i = 0; i < STREAMS; i++)
        block.covers[i] = new_event();

    for (unsigned round = 0; round < ROUNDS; round++) {
        while (!reusable(&block))
            usleep(500);
        fill(block.memory, SMALL, round);
        for (int i = 0; i < STREAMS; i++) {
            if (round == 0)
                busy(streams[i]);
            CHECK(cudaMemcpyAsync(devices[i], block.memory, SMALL, cudaMemcpyHostToDevice,
                                  streams[i]));
            record_use(&block, i, streams[i]);
        }
    }
    while (!reusable(&block))
        usleep(500);
    CHECK(cudaFreeHost(block.memory));
    for (int i = 0; i < STREAMS; i++)
        right = right && device_holds(devices[i], SMALL, ROUNDS - 1);
    return finish(right);
}

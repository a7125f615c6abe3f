// expect: SC201 action=snapshotted kind=pinned
//
// docs/wild-bugs.md, row 4: the offsets of each column, a few hundred bytes, are sent out of a
// block that goes back to the pinned pool at the end of the scope. The next column gets the same
// block, and rows come out wrong without an error anywhere.
#include "touch.h"

enum { COLUMNS = 5, OFFSETS = 64 };

struct pool {
    void *block;
    cudaEvent_t free_again;
};

static void *pool_take(struct pool *pool)
{
    if (fixed)
        CHECK(cudaEventSynchronize(pool->free_again));
    return pool->block;
}

static void pool_give(struct pool *pool, cudaStream_t stream)
{
    if (fixed)
        CHECK(cudaEventRecord(pool->free_again, stream));
}

static void send_offsets(struct pool *pool, void *device, int column, cudaStream_t stream)
{
    uint64_t *offsets = (uint64_t *)pool_take(pool);
    for (int i = 0; i < OFFSETS; i++)
        offsets[i] = (uint64_t)(column * 1000 + i);
    CHECK(cudaMemcpyAsync(device, offsets, OFFSETS * sizeof *offsets, cudaMemcpyHostToDevice,
                          stream));
    pool_give(pool, stream);
}

int main(void)
{
    struct pool pool = {.block = pinned_block(4096, 0), .free_again = new_event()};
    cudaStream_t stream = new_stream();
    void *columns[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        columns[i] = device_block(4096, 0);

    for (int i = 0; i < COLUMNS; i++)
        send_offsets(&pool, columns[i], i, stream);

    CHECK(cudaStreamSynchronize(stream));
    bool right = true;
    for (int i = 0; i < COLUMNS; i++) {
        uint64_t last = 0;
        CHECK(cudaMemcpy(&last, (uint64_t *)columns[i] + OFFSETS - 1, sizeof last,
                         cudaMemcpyDeviceToHost));
        right = right && last == (uint64_t)(i * 1000 + OFFSETS - 1);
    }
    return finish(right);
}

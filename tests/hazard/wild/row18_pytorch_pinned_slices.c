// expect: SC201 action=stalled kind=pinned certainty=observed
//
// docs/wild-bugs.md, row 18: a caching allocator of pinned memory records an event for a block when
// a copy uses it, and looks the block up by its first address. A slice starts elsewhere, is not
// found, and the block is handed out again under the copy.
#include "touch.h"

struct cached_block {
    char *address;
    size_t size_bytes;
    cudaEvent_t last_use;
    bool used, taken;
};

static void *cache_take(struct cached_block *block)
{
    if (block->taken || (block->used && cudaEventQuery(block->last_use) != cudaSuccess))
        return pinned_block(block->size_bytes, 0);
    block->taken = true;
    return block->address;
}

static void cache_note_use(struct cached_block *block, const char *address, cudaStream_t stream)
{
    bool found = fixed ? address >= block->address && address < block->address + block->size_bytes
                       : address == block->address;
    if (!found)
        return;
    CHECK(cudaEventRecord(block->last_use, stream));
    block->used = true;
}

static void copy_to_device(struct cached_block *block, void *device, const char *from, size_t bytes,
                           cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(device, from, bytes, cudaMemcpyHostToDevice, stream));
    cache_note_use(block, from, stream);
}

int main(void)
{
    const size_t half = SMALL / 2;
    struct cached_block block = {
        .address = (char *)pinned_block(SMALL, 0), .size_bytes = SMALL, .last_use = new_event()};
    cudaStream_t stream = new_stream();
    void *device = device_block(half, 0);
    char *tensor = (char *)cache_take(&block);
    fill(tensor + half, half, WANTED);

    busy(stream);
    copy_to_device(&block, device, tensor + half, half, stream);
    block.taken = false; /* the tensor and its slice go out of scope */
    void *next = cache_take(&block);
    fill(next, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, half, WANTED));
}

#include "track/allocations_internal.h"

#include "common/checks.h"
#include "common/trace.h"
#include "track/allocations.h"

#include "common/poison.h"

enum { GRID_CELLS = 1 << 12, REMOVED_AT_ONCE = 32 };

struct block {
    struct sc_grid_node node;
    uint64_t number;
    uint32_t context, origin;
    bool leaves; /* a free of it was begun, and the driver has not answered */
};

/* Initialises the record of device memory that the driver has handed out, in blocks. */
int sc_allocations_init(struct sc_allocations *allocations)
{
    *allocations = (struct sc_allocations){.made = 0};
    sc_pool_init(&allocations->blocks, sizeof(struct block));
    return sc_grid_init(&allocations->grid, &allocations->blocks, GRID_CELLS);
}

/* Returns the block of device memory with this id. */
static struct block *block_at(struct sc_allocations *allocations, uint32_t id)
{
    return sc_pool_at(&allocations->blocks, id);
}

/* Where the block of device memory begins. */
static uintptr_t block_start(struct block *block)
{
    return atomic_load_explicit(&block->node.address, memory_order_relaxed);
}

/* Forgets a block. The index by address reads its record, so it leaves the index first. */
static void remove_block(struct sc_allocations *allocations, uint32_t id)
{
    sc_grid_remove(&allocations->grid, id);
    sc_pool_release(&allocations->blocks, id);
}

/* Forgets the blocks that overlap the interval: those of one context, or with `context` 0 all. A
 * few at a time, since the index must not change during a walk. */
static void remove_overlapping(struct sc_allocations *allocations, uintptr_t address,
                               size_t size_bytes, uint32_t context)
{
    uint32_t found[REMOVED_AT_ONCE];
    unsigned count;
    do {
        count = 0;
        SC_GRID_EACH (walk, &allocations->grid, address, size_bytes) {
            if (!context || block_at(allocations, walk.id)->context == context)
                found[count++] = walk.id;
            if (count == REMOVED_AT_ONCE)
                break;
        }
        for (unsigned i = 0; i < count; i++)
            remove_block(allocations, found[i]);
    } while (count == REMOVED_AT_ONCE);
}

/* The driver has handed out a block. Blocks that are known at these addresses were freed unseen, so
 * they are forgotten. */
void sc_allocations_add(struct sc_allocations *allocations, uintptr_t address, size_t size_bytes,
                        uint32_t context, uint32_t origin)
{
    SC_ASSERT_GUARDED(&allocations->blocks);
    SC_TRACE("block-add address bytes context", address, size_bytes, context);
    remove_overlapping(allocations, address, size_bytes, 0);
    uint32_t id = sc_pool_take(&allocations->blocks);
    if (!id)
        return;
    struct block *block = block_at(allocations, id);
    block->number = ++allocations->made;
    block->context = context;
    block->origin = origin;
    block->leaves = false;
    atomic_store_explicit(&block->node.address, address, memory_order_release);
    atomic_store_explicit(&block->node.size_bytes, size_bytes, memory_order_release);
    sc_grid_insert(&allocations->grid, id);
}

/* Returns the block as callers get it: a copy, since they read it without the lock. */
static struct sc_allocation copy_members(struct sc_allocations *allocations, uint32_t id)
{
    struct block *block = block_at(allocations, id);
    return (struct sc_allocation){
        .address = block_start(block),
        .size_bytes = atomic_load_explicit(&block->node.size_bytes, memory_order_relaxed),
        .origin = block->origin,
        .id = id,
        .number = block->number,
    };
}

/* Returns the block of device memory that contains the address; one of size 0 if none is known. */
struct sc_allocation sc_allocations_find(struct sc_allocations *allocations, uintptr_t address)
{
    SC_ASSERT_GUARDED(&allocations->blocks);
    uint32_t id = sc_grid_find_at_locked(&allocations->grid, address);
    return id ? copy_members(allocations, id) : (struct sc_allocation){0};
}

/* Returns which call made the block at the address, for reports; 0: not known. */
uint32_t sc_allocations_origin(struct sc_allocations *allocations, uintptr_t address)
{
    return sc_allocations_find(allocations, address).origin;
}

/* Could a free name this address? Not if it lies within a block that begins elsewhere. */
bool sc_allocations_may_begin_at(struct sc_allocations *allocations, uintptr_t address)
{
    const struct sc_allocation block = sc_allocations_find(allocations, address);
    return block.size_bytes == 0 || block.address == address;
}

/* Returns the size of the block that begins at the address; 0: none is known to begin there. */
size_t sc_allocations_block_bytes(struct sc_allocations *allocations, uintptr_t address)
{
    const struct sc_allocation block = sc_allocations_find(allocations, address);
    return block.address == address ? block.size_bytes : 0;
}

/* A call is about to free the block at this address. No other thread can begin that as well
 * (`leaves`) until the driver has answered. */
struct sc_allocation sc_allocations_begin_free(struct sc_allocations *allocations,
                                               uintptr_t address)
{
    SC_ASSERT_GUARDED(&allocations->blocks);
    uint32_t id = sc_grid_find_at_locked(&allocations->grid, address);
    struct block *block = id ? block_at(allocations, id) : NULL;
    if (!block || block_start(block) != address || block->leaves)
        return (struct sc_allocation){0};
    block->leaves = true;
    return copy_members(allocations, id);
}

/* The driver has answered the free. It may have handed the memory out again on another thread
 * before that: the block's serial number tells it from a newer one at the same address. */
bool sc_allocations_end_free(struct sc_allocations *allocations,
                             const struct sc_allocation *allocation, bool freed)
{
    SC_ASSERT_GUARDED(&allocations->blocks);
    uint32_t id = sc_grid_find_at_locked(&allocations->grid, allocation->address);
    if (!id || id != allocation->id || block_at(allocations, id)->number != allocation->number)
        return false;
    block_at(allocations, id)->leaves = false;
    if (freed)
        remove_block(allocations, id);
    return true;
}

/* Forgets the block at once, for a free that the driver has answered already. Returns its size; 0:
 * not known. */
size_t sc_allocations_free(struct sc_allocations *allocations, uintptr_t address)
{
    const struct sc_allocation block = sc_allocations_begin_free(allocations, address);
    if (block.size_bytes)
        sc_allocations_end_free(allocations, &block, /*freed*/ true);
    return block.size_bytes;
}

/* A context has ended, and its device memory with it: forgets its blocks. */
void sc_allocations_remove_of_context(struct sc_allocations *allocations, uint32_t context)
{
    SC_ASSERT_GUARDED(&allocations->blocks);
    remove_overlapping(allocations, 0, SIZE_MAX, context);
}

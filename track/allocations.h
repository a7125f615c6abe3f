/* Blocks of device memory that the driver has handed out: where each block lies, and which call
 * made it.
 *
 * A block that is about to be given back stays known until the driver has answered. Another thread
 * may be handed the same memory before that, and then what the free would note there is outdated.
 *
 * Locks: every function needs the owner's lock. */
#ifndef SC_TRACK_ALLOCATIONS_H
#define SC_TRACK_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_allocations;

struct sc_allocation {
    uintptr_t address;
    size_t size_bytes; /* 0: there is no block */
    uint32_t origin;   /* track/origins.h */
    uint32_t id;
    uint64_t number;
};

/* 0 or -ENOMEM. */
int sc_allocations_init(struct sc_allocations *allocations);

/* The driver has handed out a block of at least one byte. Blocks that it overlaps are gone. Without
 * memory the block is not known. `context`: the id of its context's legacy stream; 0: not known. */
void sc_allocations_add(struct sc_allocations *allocations, uintptr_t address, size_t size_bytes,
                        uint32_t context, uint32_t origin);

/* The block that contains the address; of no bytes: none is known. */
struct sc_allocation sc_allocations_find(struct sc_allocations *allocations, uintptr_t address);

/* The origin of that block, or 0. */
uint32_t sc_allocations_origin(struct sc_allocations *allocations, uintptr_t address);

/* Does a block begin at the address, or is no block known that contains it? */
bool sc_allocations_may_begin_at(struct sc_allocations *allocations, uintptr_t address);

/* The size of the block that begins at the address; 0: none is known. */
size_t sc_allocations_block_bytes(struct sc_allocations *allocations, uintptr_t address);

/* Begins to free the block that begins at the address, and returns it; of no bytes: none is known,
 * or it is being freed already. Nobody else can begin to free it meanwhile. */
struct sc_allocation sc_allocations_begin_free(struct sc_allocations *allocations,
                                               uintptr_t address);

/* Ends a free that was begun: the driver has taken the block back, or (`freed` is false) has
 * refused to. Returns whether the memory is still the same block, and nobody was handed it since.
 */
bool sc_allocations_end_free(struct sc_allocations *allocations,
                             const struct sc_allocation *allocation, bool freed);

/* Frees the block that begins at the address in one step. Returns its size; 0: none is known. */
size_t sc_allocations_free(struct sc_allocations *allocations, uintptr_t address);

/* The context is gone: forgets its blocks. */
void sc_allocations_remove_of_context(struct sc_allocations *allocations, uint32_t context);

#endif

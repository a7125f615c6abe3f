/* Keeps the blocks of device memory that the driver has handed out to the program: where each block
 * lies, and which call made it.
 *
 * A block that the program is freeing stays known until the driver has answered the call. Before
 * that answer the driver may hand the same memory to another thread. So each block has a number,
 * which tells the free's block from a newer one at the same address.
 *
 * Locks: every function needs the lock of the tracker that owns the record. */

/* Terms (docs/glossary.md):
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   origin: the call that made a buffer or a stream, with its stack
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_ALLOCATIONS_H
#define SC_TRACK_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_allocations;

struct sc_allocation {
    uintptr_t address;
    size_t size_bytes; /* 0: no block was found */
    uint32_t origin;   /* the call that made the block (track/origins.h) */
    uint32_t id;
    uint64_t number;
};

/* 0 or -ENOMEM. */
int sc_allocations_init(struct sc_allocations *allocations);

/* Adds a block of at least one byte that the driver has handed out, and removes the blocks that it
 * overlaps, whose frees the library did not see. Without memory the block is not added. `context`:
 * the id of the legacy stream of the block's context; 0: not known. */
void sc_allocations_add(struct sc_allocations *allocations, uintptr_t address, size_t size_bytes,
                        uint32_t context, uint32_t origin);

/* Returns the block that contains the address, or one of size 0 if none is known. */
struct sc_allocation sc_allocations_find(struct sc_allocations *allocations, uintptr_t address);

/* Returns the origin (the call that made it, with its stack) of the block of device memory that
 * contains the address; 0: no block is known there. */
uint32_t sc_allocations_origin(struct sc_allocations *allocations, uintptr_t address);

/* Returns false only if the address lies within a known block that begins elsewhere, so that no
 * free can name it. */
bool sc_allocations_may_begin_at(struct sc_allocations *allocations, uintptr_t address);

/* Returns the size of the block that begins at the address, or 0 if no block is known to begin
 * there. */
size_t sc_allocations_block_bytes(struct sc_allocations *allocations, uintptr_t address);

/* Begins to free the block that begins at the address, and returns it. Returns one of size 0 if no
 * such block is known, or if another thread is freeing it already. Until sc_allocations_end_free,
 * no other thread can begin to free the block. */
struct sc_allocation sc_allocations_begin_free(struct sc_allocations *allocations,
                                               uintptr_t address);

/* Ends a free that sc_allocations_begin_free began. Removes the block if the driver has taken it
 * back (`freed`), and keeps it if the driver has refused. Returns false, and changes nothing, if
 * the driver has handed the address out again meanwhile. */
bool sc_allocations_end_free(struct sc_allocations *allocations,
                             const struct sc_allocation *allocation, bool freed);

/* Removes the block that begins at the address. Returns its size, or 0 if no such block is known.
 */
size_t sc_allocations_free(struct sc_allocations *allocations, uintptr_t address);

/* Removes the blocks of a context that has ended. */
void sc_allocations_remove_of_context(struct sc_allocations *allocations, uint32_t context);

#endif

/* Device memory that the driver has handed out: where each block lies, and the call that made it.
 *
 * A block that is about to be given back stays known until the driver has answered, since another
 * thread may be handed the same memory before that: what the free did there is then of the past.
 *
 * Locks: every function needs the owner's lock.
 */
#ifndef SC_TRACK_ALLOCATIONS_H
#define SC_TRACK_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_allocations;

struct sc_allocation {
    uintptr_t address;
    size_t size_bytes; /* 0: there is none */
    uint32_t origin;   /* track/origins.h */
    uint32_t id;
    uint64_t number;
};

/* 0 or -ENOMEM. */
int sc_allocations_init(struct sc_allocations *allocations);

/* The driver has handed out a block of at least one byte. Others that it overlaps are gone. Without
 * memory it is not known. `context`: the id of its context's legacy stream, 0: not known. */
void sc_allocations_add(struct sc_allocations *allocations, uintptr_t address, size_t size_bytes,
                        uint32_t context, uint32_t origin);

/* The block that contains the address. */
struct sc_allocation sc_allocations_find(struct sc_allocations *allocations, uintptr_t address);

/* Its origin, or 0. */
uint32_t sc_allocations_origin(struct sc_allocations *allocations, uintptr_t address);

/* Does a block begin there, or is none known that contains the address? */
bool sc_allocations_begins(struct sc_allocations *allocations, uintptr_t address);

/* How large the block is that begins there; 0: none is known. */
size_t sc_allocations_block_bytes(struct sc_allocations *allocations, uintptr_t address);

/* The block that begins there is about to be given back. Nobody else gives it back meanwhile. */
struct sc_allocation sc_allocations_begin_free(struct sc_allocations *allocations,
                                               uintptr_t address);

/* The driver has taken it back, or (`freed` is false) has refused to. Is it still the same block,
 * which nobody was handed since? */
bool sc_allocations_end_free(struct sc_allocations *allocations,
                             const struct sc_allocation *allocation, bool freed);

/* Both: the block that begins there is given back. Returns how large it was; 0: none is known. */
size_t sc_allocations_free(struct sc_allocations *allocations, uintptr_t address);

/* The context is gone, and its memory with it. */
void sc_allocations_remove_of(struct sc_allocations *allocations, uint32_t context);

#endif

/* Allocates blocks of memory of any size, in pages mapped by the library (own_pages.h). The arena
 * has no lock of its own: the caller holds one lock over every call for one arena. */
#ifndef SC_TOOLS_ARENA_H
#define SC_TOOLS_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* Blocks of up to 2 GB are rounded up to a power of two and recycled by size. Larger ones are
 * unmapped when they are freed. */
enum { SC_ARENA_CLASSES = 32 };

enum {
    SC_ARENA_CHUNK_BYTES = 1 << 20,
    SC_ARENA_LARGE_SHIFT = 18, /* blocks of 2 to the power of this, and larger, have own pages */
};

struct sc_arena {
    void *free_lists[SC_ARENA_CLASSES]; /* of spare blocks, by the logarithm of their size */
    char *bump;
    size_t bump_left_bytes;
    /* A list of the chunks that blocks are cut from; large blocks have pages of their own. */
    void *chunks;
#ifdef SC_DEBUG
    const struct sc_brief_lock *guard;
#endif
};

/* Allocate and free a block. A new block is not zeroed; NULL: no memory. A block must be freed
 * with the size that it was allocated with, since the arena does not store sizes. To free NULL
 * does nothing. */
void *sc_arena_alloc(struct sc_arena *arena, size_t size_bytes);
void sc_arena_free(struct sc_arena *arena, void *block, size_t size_bytes);

/* Grows a list of records to four times its capacity, or to `first` records if it is empty. Copies
 * the records, frees the old list and sets *capacity. Returns the new list; NULL: no memory, and
 * nothing has changed. */
void *sc_arena_grow(struct sc_arena *arena, void *list, uint32_t *capacity, size_t record_bytes,
                    uint32_t first);

#endif

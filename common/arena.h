/* Blocks of any size, in pages of the library's own (own_pages.h).
 *
 * The arena does not lock: the caller's lock guards every call.
 */
#ifndef SC_TOOLS_ARENA_H
#define SC_TOOLS_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* Up to 2 GB blocks are rounded up to a power of two and recycled by size; larger ones go back to
 * the kernel. */
enum { SC_ARENA_CLASSES = 32 };

struct sc_arena {
    void *free_lists[SC_ARENA_CLASSES]; /* by the logarithm of the size */
    char *bump;
    size_t bump_left_bytes;
    void *chunks; /* what blocks are cut from, each naming the one before; large ones stand alone */
#ifdef SC_DEBUG
    const struct sc_brief_lock *guard;
#endif
};

void *sc_arena_take(struct sc_arena *arena, size_t size_bytes); /* not zeroed; NULL: no memory */
void sc_arena_give(struct sc_arena *arena, void *block, size_t size_bytes); /* NULL: nothing */

/* Four times as long a list, `first` records at first, with what the list of `*capacity` records
 * held, which is given back. NULL: no memory, and the list is as it was. */
void *sc_arena_grow(struct sc_arena *arena, void *list, uint32_t *capacity, size_t record_bytes,
                    uint32_t first);
void sc_arena_destroy(struct sc_arena *arena); /* large blocks must have been given back */

#endif

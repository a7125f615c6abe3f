#include "common/arena.h"
#include "common/checks.h"

#include <stdbool.h>
#include <string.h>

#include "common/own_pages.h"

#include "common/poison.h"

enum { ARENA_BLOCK_MIN_SHIFT = 5 };

/* Is the block too large to be recycled (more than 2 GB)? Such a block is mapped when it is
 * allocated, and unmapped when it is freed. */
static bool is_huge(size_t size_bytes)
{
    return size_bytes > (size_t)1 << (SC_ARENA_CLASSES - 1);
}

/* Returns the size class of the block, by which freed blocks are recycled: the exponent of the
 * smallest power of two that has room for it. */
static unsigned size_class(size_t size_bytes)
{
    unsigned shift = ARENA_BLOCK_MIN_SHIFT;
    while (((size_t)1 << shift) < size_bytes)
        shift++;
    return shift;
}

/* Maps one more chunk of pages, from which small blocks are cut one behind the other. Its first
 * words link it to the chunk before. What is left of the old chunk is not used any more. False: no
 * memory. */
static bool add_chunk(struct sc_arena *arena)
{
    char *pages = sc_pages_map(SC_ARENA_CHUNK_BYTES);
    size_t head_bytes = (size_t)1 << ARENA_BLOCK_MIN_SHIFT;
    if (!pages)
        return false;
    memcpy(pages, &arena->chunks, sizeof(void *));
    arena->chunks = pages;
    arena->bump = pages + head_bytes;
    arena->bump_left_bytes = SC_ARENA_CHUNK_BYTES - head_bytes;
    return true;
}

/* Returns a block: a freed one of the same size class, or one cut from the chunk, or, if it is
 * large, pages of its own. NULL: no memory. */
void *sc_arena_alloc(struct sc_arena *arena, size_t size_bytes)
{
    SC_ASSERT_GUARDED(arena);
    if (is_huge(size_bytes))
        return sc_pages_map(size_bytes);
    unsigned shift = size_class(size_bytes);
    size_t block_bytes = (size_t)1 << shift;
    void *block = arena->free_lists[shift];
    if (block) {
        memcpy(&arena->free_lists[shift], block, sizeof(void *));
        return block;
    }
    if (shift >= SC_ARENA_LARGE_SHIFT)
        return sc_pages_map(block_bytes);
    if (arena->bump_left_bytes < block_bytes && !add_chunk(arena))
        return NULL;
    block = arena->bump;
    SC_ASSERT(block_bytes <= arena->bump_left_bytes);
    arena->bump += block_bytes;
    arena->bump_left_bytes -= block_bytes;
    return block;
}

/* Adds the block to the freed blocks of its size class, linked by their first words, for later
 * calls of sc_arena_alloc. A block of more than 2 GB is unmapped. */
void sc_arena_free(struct sc_arena *arena, void *block, size_t size_bytes)
{
    SC_ASSERT_GUARDED(arena);
    if (!block || is_huge(size_bytes)) {
        sc_pages_unmap(block, size_bytes);
        return;
    }
    unsigned shift = size_class(size_bytes);
    SC_ASSERT(block != NULL && block != arena->free_lists[shift]);
    memcpy(block, &arena->free_lists[shift], sizeof(void *));
    arena->free_lists[shift] = block;
}

/* Replaces the list by one with four times the capacity (at first: `first` records). */
void *sc_arena_grow(struct sc_arena *arena, void *list, uint32_t *capacity, size_t record_bytes,
                    uint32_t first)
{
    SC_ASSERT_GUARDED(arena);
    SC_ASSERT((list != NULL) == (*capacity != 0));
    uint32_t more = *capacity ? *capacity * 4 : first;
    void *larger = sc_arena_alloc(arena, more * record_bytes);
    if (!larger)
        return NULL;
    if (list) {
        memcpy(larger, list, *capacity * record_bytes);
        sc_arena_free(arena, list, *capacity * record_bytes);
    }
    *capacity = more;
    return larger;
}

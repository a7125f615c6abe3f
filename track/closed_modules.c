#include "track/closed_modules.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "common/own_pages.h"
#include "track/stacks.h"

#include "common/poison.h"

/* A word stands in a stored stack for a return address in a module that was closed: the mark, the
 * number of the module, and the offset of the instruction. The mark makes it an address that no
 * processor accepts. */
enum { MARK = 0xC0E, MARK_SHIFT = 52, NUMBER_SHIFT = 40, MODULES_MAX = 1 << 12 };

static _Atomic(const char *) paths[MODULES_MAX];

/* Returns a copy of the path, in pages that stay for ever; NULL: no memory. malloc must not be
 * called here. */
static const char *copy_path(const char *path)
{
    size_t size_bytes = strlen(path) + 1;
    char *copy = sc_pages_map(size_bytes);
    if (copy)
        memcpy(copy, path, size_bytes);
    return copy;
}

/* Returns the number of the module's path, added if it is new; MODULES_MAX: there is no room.
 * Without a lock: whoever sets the first free entry has added its path, and another thread finds it
 * there. A copy that was not needed is unmapped. */
static unsigned path_index(const char *path)
{
    const char *added = NULL, *known;
    unsigned i = 0;
    for (; i < MODULES_MAX; i++) {
        known = atomic_load_explicit(&paths[i], memory_order_acquire);
        if (!known && (added || (added = copy_path(path)) != NULL) &&
            atomic_compare_exchange_strong(&paths[i], &known, added))
            return i;
        if (!known)
            return MODULES_MAX;
        if (strcmp(known, path) == 0)
            break;
    }
    sc_pages_unmap((void *)(uintptr_t)added, strlen(path) + 1);
    return i;
}

/* A module is being closed by dlclose: replaces return addresses in stored stacks that lie there,
 * since other code may be loaded there. Most modules are in no stack, so that is asked first (word
 * 0), before the path is copied. */
void sc_closed_modules_note(const char *path, uintptr_t start, uintptr_t end)
{
    unsigned number = sc_stacks_replace_frames(start, end, 0) ? path_index(path) : MODULES_MAX;
    if (number < MODULES_MAX)
        sc_stacks_replace_frames(start, end,
                                 (uint64_t)MARK << MARK_SHIFT | (uint64_t)number << NUMBER_SHIFT);
}

/* Decodes a word of a stack that stands for an address in a closed module. Returns false for any
 * other word. */
bool sc_closed_modules_frame(const void *word, const char **path, uintptr_t *offset)
{
    uint64_t bits = (uint64_t)word;
    if (bits >> MARK_SHIFT != MARK)
        return false;
    *path = atomic_load_explicit(&paths[bits >> NUMBER_SHIFT & (MODULES_MAX - 1)],
                                 memory_order_acquire);
    *offset = bits & ((UINT64_C(1) << NUMBER_SHIFT) - 1);
    return true;
}

/* Hooks of brk and sbrk. A lower break takes the pages between it and the old one away: operations
 * in flight there are reported and waited for first.
 *
 * These hooks are for programs that use the break as an allocator of their own. Memory that glibc's
 * malloc gives back at the break (free, malloc_trim) does not come by here. That is no loss either:
 * the program has freed it, and what is in flight there is not freed yet (free.c).
 */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 *   in flight: issued, and the host does not know yet that it is done
 *   loss: memory that goes otherwise than by a free: munmap, shmdt, dlclose, the end of a thread
 */

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/base/mappings.h"
#include "interpose/losses/losses.h"
#include "interpose/reaper/culprit.h"
#include "track/track_holds.h"

#include "common/poison.h"

typedef int brk_function(void *address);
typedef void *sbrk_function(intptr_t change);

#define NEXT(name) SC_NEXT(name##_function *, #name)

/* The process's heap, as /proc shows it. */
struct heap {
    uintptr_t start; /* 0: there is none */
};

/* Called for each line of /proc/self/maps: stores where the heap of brk() starts. Returns whether
 * to go on, which is so until the heap is found. */
static bool is_heap_line(void *context, uintptr_t start, uintptr_t end, const char *access,
                         const char *rest)
{
    struct heap *heap = context;
    (void)end;
    (void)access;
    bool found = strstr(rest, "[heap]") != NULL;
    if (found)
        heap->start = start;
    return !found;
}

/* Is the address within the heap of brk()? The kernel refuses a break below the heap, so then no
 * page is lost. True also if /proc cannot be read. */
static bool is_in_heap(uintptr_t address)
{
    struct heap heap = {0};
    return !sc_mappings_each(is_heap_line, &heap) || (heap.start && heap.start <= address);
}

/* Called before the break is set to `to`: reports operations in flight on the whole pages between
 * `to` and the present break, which the kernel is about to remove, and waits for them. Does nothing
 * if the break rises, if nothing is in flight there, or if the kernel will refuse the call. */
static void settle_lost_pages(uintptr_t to, const struct sc_culprit *culprit)
{
    uintptr_t start = sc_losses_whole_pages(to);
    uintptr_t end = sc_losses_whole_pages((uintptr_t)NEXT(sbrk)(0));
    const void *lost = (const void *)start;
    if (start >= end || !sc_track_overlaps(&sc_track, start, end - start) || !is_in_heap(start))
        return;
    sc_losses_settle(lost, end - start, culprit);
}

/* Replaces libc's brk: what a lower break takes away is settled before the real call. */
SC_EXPORT int brk(void *address)
{
    if (sc_losses_are_watched())
        settle_lost_pages((uintptr_t)address, &(struct sc_culprit){"brk", SC_SITE(), NULL});
    return NEXT(brk)(address);
}

/* Replaces libc's sbrk: only a negative change takes pages away. */
SC_EXPORT void *sbrk(intptr_t change)
{
    if (change < 0 && sc_losses_are_watched())
        settle_lost_pages((uintptr_t)NEXT(sbrk)(0) + (uintptr_t)change,
                          &(struct sc_culprit){"sbrk", SC_SITE(), NULL});
    return NEXT(sbrk)(change);
}

/* brk and sbrk: the pages between the new break and the old one are lost.
 *
 * That is for programs that use the break as an allocator of their own. What glibc's malloc gives
 * back of it (free, malloc_trim) does not come by here, and is no loss: it is memory that the
 * program has freed, which is not free while it is in flight (free.c).
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "common/pages.h"
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

struct heap {
    uintptr_t start; /* 0: there is none */
};

static bool look_for_heap(void *context, uintptr_t start, uintptr_t end, const char *access,
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

/* What lies below the heap is not the break's to give back, and the kernel refuses. */
static bool is_in_heap(uintptr_t address)
{
    struct heap heap = {0};
    return !sc_mappings_each(look_for_heap, &heap) || (heap.start && heap.start <= address);
}

static void before_break(uintptr_t to, const struct sc_culprit *culprit)
{
    uintptr_t start = sc_losses_whole_pages(to);
    uintptr_t end = sc_losses_whole_pages((uintptr_t)NEXT(sbrk)(0));
    const void *lost = (const void *)start;
    if (start >= end || !sc_track_meets(&sc_track, start, end - start) || !is_in_heap(start))
        return;
    if (sc_losses_may_matter(lost, end - start))
        sc_losses_settle(lost, end - start, culprit);
    sc_losses_leave_alone(lost, end - start, SC_SNAPSHOTS_NONE);
}

SC_EXPORT int brk(void *address)
{
    if (sc_losses_are_watched())
        before_break((uintptr_t)address, &(struct sc_culprit){"brk", SC_SITE(), NULL});
    return NEXT(brk)(address);
}

SC_EXPORT void *sbrk(intptr_t change)
{
    if (change < 0 && sc_losses_are_watched())
        before_break((uintptr_t)NEXT(sbrk)(0) + (uintptr_t)change,
                     &(struct sc_culprit){"sbrk", SC_SITE(), NULL});
    return NEXT(sbrk)(change);
}

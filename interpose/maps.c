/* munmap, mremap, mprotect, and mmap over memory in flight.
 *
 * A mapping that goes away under a copy stays until the copy is complete; one that must move or be
 * replaced waits. The driver's own unmapping passes through while we are inside of it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose/driver.h"
#include "interpose/guard.h"
#include "interpose/hazards.h"
#include "interpose/heap.h"
#include "interpose/loader.h"
#include "interpose/process.h"
#include "interpose/reaper.h"
#include "interpose/unwind.h"

#include "track/poison.h"

typedef int munmap_function(void *address, size_t size_bytes);
typedef int mprotect_function(void *address, size_t size_bytes, int protection);
typedef int pkey_mprotect_function(void *address, size_t size_bytes, int protection, int key);
typedef void *mremap_function(void *address, size_t old_bytes, size_t new_bytes, int flags, ...);
typedef void *mmap_function(void *address, size_t size_bytes, int protection, int flags, int fd,
                            off_t offset);

#define NEXT(name) SC_NEXT(name##_function *, #name)

void sc_heap_really_unmap(void *address, size_t size_bytes)
{
    NEXT(munmap)(address, size_bytes);
}

static bool must_look(const void *address, size_t size_bytes)
{
    return sc_unlikely(atomic_load_explicit(&sc_track.libc_watch, memory_order_relaxed)) &&
           sc_active() && !sc_is_inside() &&
           sc_track_may_be_busy(&sc_track, (uintptr_t)address, size_bytes);
}

static void report(const struct sc_take_down *request, enum sc_action action,
                   const struct sc_culprit *culprit)
{
    struct sc_buffer buffer = {request->address, request->size_bytes};
    sc_guard_apply();
    sc_hazards_report(SC104, action, &request->found, &buffer, culprit);
}

/* Reports what is in flight there, and in mode=fix waits for it and for what is held. */
static void settle(void *address, size_t size_bytes, const struct sc_culprit *culprit)
{
    struct sc_take_down request = {
        .address = (uintptr_t)address,
        .size_bytes = size_bytes,
        .hold = sc_options.mode == SC_MODE_FIX,
        .kind = SC_HOLD_WAIT,
    };
    sc_track_forget_graph_holds(&sc_track, request.address, size_bytes);
    sc_track_take_down(&sc_track, &request);
    report(&request, request.held ? SC_ACTION_STALLED : SC_ACTION_REPORTED, culprit);
    if (request.held)
        sc_reaper_wait(&request);
}

static bool unmap_is_deferred(void *address, size_t size_bytes, const struct sc_culprit *culprit)
{
    struct sc_take_down request = {
        .address = (uintptr_t)address,
        .size_bytes = size_bytes,
        .hold = sc_options.mode == SC_MODE_FIX,
        .kind = SC_HOLD_UNMAP,
        .max_held_bytes = sc_options.max_held_bytes,
    };
    if (sc_track_graph_names(&sc_track, request.address, size_bytes))
        request.by = sc_hazards_event(culprit);
    sc_track_take_down(&sc_track, &request);
    if (request.must_wait) {
        settle(address, size_bytes, culprit);
        return false;
    }
    report(&request, request.held ? SC_ACTION_DEFERRED : SC_ACTION_REPORTED, culprit);
    if (request.held)
        sc_reaper_wake();
    return request.held != 0;
}

/* The driver goes on reading registered pages whatever becomes of their mapping. True: some may lie
 * there. */
static bool limit_snapshots(void *address, size_t size_bytes, enum sc_snapshots snapshots)
{
    bool may_be_of_range =
        sc_active() && !sc_is_inside() && size_bytes != 0 &&
        sc_grid_may_overlap(&sc_track.inflight.range_grid, (uintptr_t)address, size_bytes);
    if (may_be_of_range)
        sc_track_limit_snapshots(&sc_track, (uintptr_t)address, size_bytes, snapshots);
    return may_be_of_range;
}

/* The mapping is about to become something else, so its pages are no longer ours to protect: to
 * let them go would undo what the program does with them. */
static void forbid_guarding(const void *address, size_t size_bytes)
{
    sc_track_set_guarding(&sc_track, (uintptr_t)address, size_bytes, SC_GUARDING_FORBIDDEN);
    sc_guard_apply();
}

static void leave_pages_alone(void *address, size_t size_bytes, enum sc_snapshots snapshots)
{
    if (limit_snapshots(address, size_bytes, snapshots))
        forbid_guarding(address, size_bytes);
}

/* The kernel takes whole pages. A size that cannot be rounded is one that it refuses. */
static size_t whole_pages(size_t size_bytes)
{
    size_t mask = (size_t)sysconf(_SC_PAGESIZE) - 1;
    return size_bytes + mask < size_bytes ? size_bytes : (size_bytes + mask) & ~mask;
}

/* What the kernel would refuse is left to the kernel. */
static bool is_valid_unmap(const void *address, size_t size_bytes)
{
    long page_bytes = sysconf(_SC_PAGESIZE);
    return size_bytes != 0 && ((uintptr_t)address & (uintptr_t)(page_bytes - 1)) == 0;
}

SC_EXPORT int munmap(void *address, size_t size_bytes)
{
    size_t whole = whole_pages(size_bytes);
    bool may_be_of_range = limit_snapshots(address, whole, SC_SNAPSHOTS_NONE);
    if (must_look(address, whole) && is_valid_unmap(address, size_bytes) &&
        unmap_is_deferred(address, whole, &(struct sc_culprit){"munmap", SC_SITE(), NULL}))
        return 0;
    if (may_be_of_range)
        forbid_guarding(address, whole);
    return NEXT(munmap)(address, size_bytes);
}

SC_EXPORT void *mremap(void *address, size_t old_bytes, size_t new_bytes, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    void *target = flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    struct sc_culprit culprit = {"mremap", SC_SITE(), NULL};
    size_t old_whole = whole_pages(old_bytes);
    size_t new_whole = whole_pages(new_bytes);
    if (old_bytes &&
        must_look(address, old_whole)) /* of 0 bytes: mapped once more, and not moved */
        settle(address, old_whole, &culprit);
    if (target && must_look(target, new_whole))
        settle(target, new_whole, &culprit);
    leave_pages_alone(address, old_whole, SC_SNAPSHOTS_NONE);
    if (target)
        leave_pages_alone(target, new_whole, SC_SNAPSHOTS_NONE);
    return NEXT(mremap)(address, old_bytes, new_bytes, flags, target);
}

static void before_mmap(void *address, size_t size_bytes, int flags, void *site)
{
    if (!(flags & MAP_FIXED) || (flags & MAP_FIXED_NOREPLACE) == MAP_FIXED_NOREPLACE)
        return;
    size_t whole = whole_pages(size_bytes);
    if (must_look(address, whole))
        settle(address, whole, &(struct sc_culprit){"mmap", site, NULL});
    leave_pages_alone(address, whole, SC_SNAPSHOTS_NONE);
}

SC_EXPORT void *mmap(void *address, size_t size_bytes, int protection, int flags, int fd,
                     off_t offset)
{
    before_mmap(address, size_bytes, flags, SC_SITE());
    return NEXT(mmap)(address, size_bytes, protection, flags, fd, offset);
}

SC_EXPORT void *mmap64(void *address, size_t size_bytes, int protection, int flags, int fd,
                       off64_t offset)
{
    before_mmap(address, size_bytes, flags, SC_SITE());
    return NEXT(mmap)(address, size_bytes, protection, flags, fd, offset);
}

SC_EXPORT int mprotect(void *address, size_t size_bytes, int protection)
{
    leave_pages_alone(address, whole_pages(size_bytes), SC_SNAPSHOTS_PEEKED);
    return NEXT(mprotect)(address, size_bytes, protection);
}

SC_EXPORT int pkey_mprotect(void *address, size_t size_bytes, int protection, int key)
{
    leave_pages_alone(address, whole_pages(size_bytes), SC_SNAPSHOTS_PEEKED);
    return NEXT(pkey_mprotect)(address, size_bytes, protection, key);
}

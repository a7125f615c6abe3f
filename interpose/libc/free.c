/* free, realloc and reallocarray.
 *
 * If nothing is in flight on memory that free() could take away, free is one load and a jump. The
 * hooks make no CUDA call, because the driver calls free with its own locks held, and they unwind
 * only when they have found a hazard. They work before any constructor has run: the loader calls
 * free as soon as this object is loaded.
 */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   culprit: the call or instruction that came too early
 *   deferred: of a free: done later, when the hold on the memory has ended
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   hook: our function in the place of one of the C library's
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 */

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "common/hazard_words.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/real_libc.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/deallocation.h"
#include "interpose/reaper/hazards.h"
#include "interpose/reaper/reaper.h"
#include "report/options.h"
#include "track/graph_frees.h"
#include "track/hold_kind.h"
#include "track/inflight_calls.h"
#include "track/ops.h"
#include "track/track.h"
#include "track/track_front.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ranges.h"
#include "track/track_views.h"

/* Returns a block's size if the allocator has no function for that: what is registered with the
 * driver from its first byte on; else 1, so that operations on its first byte are found at least.
 */
static __attribute__((noinline)) size_t bytes_in_use(void *block)
{
    struct sc_range_info range = sc_track_find_range(&sc_track, (uintptr_t)block);
    return range.range ? range.address + range.size_bytes - (uintptr_t)block : 1;
}

/* Returns how many bytes the allocator's block has, so that operations anywhere on it are found. */
static inline size_t block_bytes(void *block)
{
    size_t (*ask)(void *) = atomic_load_explicit(&sc_allocator.usable_size, memory_order_relaxed);
    return sc_likely(ask != NULL) ? ask(block) : bytes_in_use(block);
}

/* Called before a block is freed that operations in flight may use: reports those, and in mode=fix
 * defers the free until they are complete. True: it is deferred, and the caller must not free. */
static __attribute__((noinline)) bool defer_free(void *block, size_t size_bytes,
                                                 const struct sc_culprit *culprit)
{
    SC_DEALLOCATION request = {
        .address = (uintptr_t)block,
        .size_bytes = size_bytes,
        .hold = true,
        .kind = SC_HOLD_FREE,
    };
    if (sc_track_is_held(&sc_track, request.address, 1, SC_HOLDS_FREED | SC_HOLDS_STARTING)) {
        /* A second free: glibc reports it, once the first one was made. */
        sc_reaper_await_no_hold(request.address, 1, culprit->api);
        return false;
    }
    return sc_deallocation_handle(&request, SC_HAZARD_CODE_COUNT, culprit);
}

/* Is anything in flight on memory that the C library could take away? One load, the only cost of
 * most frees. */
static inline bool is_watching(void)
{
    return sc_unlikely(sc_track_watches_libc(&sc_track));
}

/* Defers the free of a block that operations in flight may use; returns whether it did. Not while
 * hooks only pass calls on, nor within a call that the library makes for itself: its own blocks. */
static __attribute__((noinline)) bool defer_by_program(void *block, size_t size_bytes, void *site)
{
    return sc_active() && !sc_is_inside() &&
           defer_free(block, size_bytes, &(struct sc_culprit){"free", site, NULL});
}

/* Frees a block while something is in flight, unless operations in flight use the block. Most
 * blocks pass the check of the index, which comes first. Not inline, so that free saves no
 * register. */
static __attribute__((noinline)) void free_watched(void *block, void *site)
{
    size_t size_bytes = block_bytes(block);
    if (sc_unlikely(sc_track_heap_may_have(&sc_track, (uintptr_t)block, size_bytes)) &&
        defer_by_program(block, size_bytes, site))
        return;
    sc_real_libc_free(block);
}

/* The hook of free: one load and a jump unless something is in flight on memory that free could
 * take away. */
SC_EXPORT void free(void *block)
{
    if (is_watching() && block)
        free_watched(block, SC_SITE());
    else
        sc_real_libc_free(block);
}

/* Reports what is in flight on the memory, which the culprit's call (realloc) is about to take
 * away, and in mode=fix waits for it. */
static void stall_for(uintptr_t address, size_t size_bytes, const struct sc_culprit *culprit)
{
    SC_DEALLOCATION request = {
        .address = address,
        .size_bytes = size_bytes,
        .hold = true,
        .kind = SC_HOLD_WAIT,
    };
    sc_deallocation_handle(&request, SC_HAZARD_CODE_COUNT, culprit);
}

/* Is the memory in use: by operations in flight, which are stored in `found`, or named by a graph,
 * whose later launches will use it? */
static bool is_used(uintptr_t address, size_t size_bytes, struct sc_ops *found)
{
    SC_TRACK_SCOPE(track);
    sc_inflight_find_in(track.inflight, address, size_bytes, found);
    return found->count != 0 ||
           sc_graphs_name_memory(track.graphs, address, size_bytes, /*unregistered=*/false);
}

/* realloc of a block that is in use: in mode=fix moves it at once to a new one (*moved), and defers
 * the free of the old one, which operations in flight still read. False: the block is not in use,
 * or cannot be moved, and was waited for; the caller makes the real call. It cannot be if
 * operations write to it, since the new block would lack what they write, or if its size is not
 * known. */
static bool realloc_by_moving(void *block, size_t new_bytes, const struct sc_culprit *culprit,
                              void **moved)
{
    size_t old_bytes = block_bytes(block);
    uintptr_t address = (uintptr_t)block;
    SC_OPS(found);
    if (!sc_track_may_have(&sc_track, SC_NEAR_HEAP, address, old_bytes))
        return false;
    if (!is_used(address, old_bytes, &found))
        return false;
    bool move = sc_options.mode == SC_MODE_FIX && !sc_ops_have_destination(&found) &&
                atomic_load(&sc_allocator.usable_size) && new_bytes > 0;
    void *fresh = move ? atomic_load(&sc_allocator.malloc)(new_bytes) : NULL;
    if (!fresh) {
        stall_for(address, old_bytes, culprit);
        return false;
    }
    memcpy(fresh, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    SC_DEALLOCATION request = {
        .address = address,
        .size_bytes = old_bytes,
        .hold = true,
        .kind = SC_HOLD_FREE,
        .max_held_bytes = UINT64_MAX, /* not limited: the new block exists already */
    };
    if (!sc_deallocation_handle(&request, SC_HAZARD_CODE_COUNT, culprit))
        sc_real_libc_free(block); /* the operations have become complete meanwhile */
    *moved = fresh;
    return true;
}

/* May the program's realloc take away memory that operations in flight use? Not while hooks only
 * pass calls on, nor within a call that the library makes for itself. */
static inline bool must_watch_realloc(void)
{
    return is_watching() && sc_active() && !sc_is_inside();
}

/* Defers the free of a block (by realloc) until no operation in flight uses it. False: none does,
 * or the free cannot be deferred: it may be freed now. */
static bool defer_if_near(void *block, const struct sc_culprit *culprit)
{
    SC_KEEP_ERRNO();
    size_t size_bytes = block_bytes(block);
    return sc_track_may_have(&sc_track, SC_NEAR_HEAP, (uintptr_t)block, size_bytes) &&
           defer_free(block, size_bytes, culprit);
}

/* realloc(block, 0), which frees the block, as in glibc. If operations in flight use it, the free
 * is deferred, and the answer is glibc's: NULL, with errno unchanged. */
static void *free_by_realloc(void *block, const struct sc_culprit *culprit)
{
    return defer_if_near(block, culprit) ? NULL : sc_real_libc_realloc(block, 0);
}

/* realloc while something is in flight on memory that the C library could take away. If the
 * allocator moves the block, graphs that name its old place learn that it is freed: their later
 * launches are reported. Who freed it (`by`) is noted before, as the stack is unwound for that.
 * `api`, `site`: the program's call. */
static void *realloc_watched(void *block, size_t size_bytes, const char *api, void *site)
{
    struct sc_culprit culprit = {api, site, NULL};
    void *moved = NULL;
    if (size_bytes == 0 && atomic_load_explicit(&sc_allocator.empty_is_freed, memory_order_relaxed))
        return free_by_realloc(block, &culprit);
    if (realloc_by_moving(block, size_bytes, &culprit, &moved))
        return moved;
    size_t old_bytes = block_bytes(block);
    bool by_graph =
        sc_track_graph_names(&sc_track, (uintptr_t)block, old_bytes, /*unregistered=*/false);
    struct sc_hazard_event by = {0};
    if (by_graph)
        by = sc_hazards_event(&culprit);
    moved = sc_real_libc_realloc(block, size_bytes);
    if (by_graph && moved && moved != block)
        SC_TRACKED(sc_graphs_note_freed(track.graphs, (uintptr_t)block, old_bytes, &by));
    return moved;
}

/* The hook of realloc: one load and a jump unless something is in flight on memory that the C
 * library could take away. */
SC_EXPORT void *realloc(void *block, size_t size_bytes)
{
    if (must_watch_realloc() && block)
        return realloc_watched(block, size_bytes, "realloc", SC_SITE());
    return sc_real_libc_realloc(block, size_bytes);
}

/* The hook of reallocarray, of which older C libraries have none: realloc of so many bytes. */
SC_EXPORT void *reallocarray(void *block, size_t count, size_t size_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size_bytes, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    if (must_watch_realloc() && block)
        return realloc_watched(block, bytes, "reallocarray", SC_SITE());
    return sc_real_libc_realloc(block, bytes);
}

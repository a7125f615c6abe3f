/* free, realloc and reallocarray.
 *
 * If nothing is in flight on memory that free() could take away, free is one load and a jump. The
 * hooks make no CUDA call, because the driver calls free with its own locks held, and they unwind
 * only when they have found a hazard. They work before any constructor has run: the loader calls
 * free as soon as this object is loaded.
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

/* The block's length if the allocator has no function for it: what is in use from its first byte
 * on. */
static __attribute__((noinline)) size_t bytes_in_use(void *block)
{
    struct sc_range_info range = sc_track_find_range(&sc_track, (uintptr_t)block);
    return range.range ? range.address + range.size_bytes - (uintptr_t)block : 1;
}

static inline size_t block_bytes(void *block)
{
    size_t (*ask)(void *) = atomic_load_explicit(&sc_allocator.usable_size, memory_order_relaxed);
    return sc_likely(ask != NULL) ? ask(block) : bytes_in_use(block);
}

/* Defers the free of a block that operations may be using. True: the free is deferred, and the
 * caller must not free. */
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

static inline bool is_watching(void)
{
    return sc_unlikely(sc_track_watches_libc(&sc_track));
}

/* Defers the free if the block is in flight. Not within a call of the library's own. */
static __attribute__((noinline)) bool may_be_deferred(void *block, size_t size_bytes, void *site)
{
    return sc_active() && !sc_is_inside() &&
           defer_free(block, size_bytes, &(struct sc_culprit){"free", site, NULL});
}

/* Frees a block, unless operations in flight use it. Most blocks pass the check of the index, which
 * comes first. Not inline, so that free saves no register. */
static __attribute__((noinline)) void free_watched(void *block, void *site)
{
    size_t size_bytes = block_bytes(block);
    if (sc_unlikely(sc_track_heap_may_have(&sc_track, (uintptr_t)block, size_bytes)) &&
        may_be_deferred(block, size_bytes, site))
        return;
    sc_real_libc_free(block);
}

SC_EXPORT void free(void *block)
{
    if (is_watching() && block)
        free_watched(block, SC_SITE());
    else
        sc_real_libc_free(block);
}

/* Waits for what is in flight on the memory, as part of the culprit's call. */
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

/* Is the memory in use: in flight, or named by a graph? */
static bool is_used(uintptr_t address, size_t size_bytes, struct sc_ops *found)
{
    SC_TRACK_SCOPE(track);
    sc_inflight_find_in(track.inflight, address, size_bytes, found);
    return found->count != 0 || sc_graphs_name_memory(track.graphs, address, size_bytes);
}

/* Moves a block that operations in flight still read. False: nothing is in flight, or the block
 * cannot be moved and the wait is over; the caller makes the real call. */
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

static inline bool must_watch_realloc(void)
{
    return is_watching() && sc_active() && !sc_is_inside();
}

/* Defers the free of a block until no operation in flight uses it. False: it may be freed now. */
static bool defer_if_near(void *block, const struct sc_culprit *culprit)
{
    SC_KEEP_ERRNO();
    size_t size_bytes = block_bytes(block);
    return sc_track_may_have(&sc_track, SC_NEAR_HEAP, (uintptr_t)block, size_bytes) &&
           defer_free(block, size_bytes, culprit);
}

/* realloc(block, 0), which frees. A deferred free answers as glibc does: NULL, with errno
 * unchanged. */
static void *free_by_realloc(void *block, const struct sc_culprit *culprit)
{
    return defer_if_near(block, culprit) ? NULL : sc_real_libc_realloc(block, 0);
}

/* realloc of a block that may be in flight. If the allocator moves the block, its old place is
 * recorded as freed for graphs that name it. */
static void *realloc_watched(void *block, size_t size_bytes, const char *api, void *site)
{
    struct sc_culprit culprit = {api, site, NULL};
    void *moved = NULL;
    if (size_bytes == 0 && atomic_load_explicit(&sc_allocator.empty_is_freed, memory_order_relaxed))
        return free_by_realloc(block, &culprit);
    if (realloc_by_moving(block, size_bytes, &culprit, &moved))
        return moved;
    size_t old_bytes = block_bytes(block);
    bool by_graph = sc_track_graph_names(&sc_track, (uintptr_t)block, old_bytes);
    struct sc_hazard_event by = {0};
    if (by_graph)
        by = sc_hazards_event(&culprit);
    moved = sc_real_libc_realloc(block, size_bytes);
    if (by_graph && moved && moved != block)
        SC_TRACKED(sc_graphs_note_freed(track.graphs, (uintptr_t)block, old_bytes, &by));
    return moved;
}

SC_EXPORT void *realloc(void *block, size_t size_bytes)
{
    if (must_watch_realloc() && block)
        return realloc_watched(block, size_bytes, "realloc", SC_SITE());
    return sc_real_libc_realloc(block, size_bytes);
}

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

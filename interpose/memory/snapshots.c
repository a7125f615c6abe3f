#include "interpose/memory/snapshots.h"

#include <errno.h>
#include <string.h>

#include "common/checks.h"
#include "common/mutex.h"
#include "common/op_kinds.h"
#include "common/own_pages.h"
#include "common/peek.h"
#include "common/shape.h"
#include "common/ticks.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"
#include "interpose/driver/replaying.h"
#include "interpose/guard/door.h"
#include "interpose/streams/contexts.h"
#include "ledger/ledger.h"
#include "report/options.h"
#include "track/inflight_calls.h"
#include "track/staging.h"
#include "track/track.h"
#include "track/track_copies.h"
#include "track/track_ops.h"
#include "track/track_views.h"

#include "common/poison.h"

enum { LARGER_MAX_BYTES = 256 << 10, SEVERAL_THREADS = 3, GUARDED_FIRST = 64 };

static pthread_mutex_t grow_lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns the size up to which sources larger than snapshot_max are copied too, if that is cheaper
 * than protecting their pages. Many threads that protect pages wait for each other. Pages that
 * userfaultfd has protected take a fault each to be writable again (H200, 64 KB: 126 us by 16
 * threads, 8 by one). A snapshot_max that the user gives is the limit for all. The answer is kept
 * plus 1, as 0 says that it was not asked for yet. */
static size_t larger_max(void)
{
    static _Atomic size_t known;
    size_t most = atomic_load_explicit(&known, memory_order_relaxed);
    if (sc_likely(most != 0))
        return most - 1;
    most = sc_options_is_given(&sc_options, "snapshot_max") ? sc_options.snapshot_max_bytes
                                                            : LARGER_MAX_BYTES;
    atomic_store_explicit(&known, most + 1, memory_order_relaxed);
    return most;
}

/* Notes that this thread copies. Do several threads? Roughly: threads whose ids are equal modulo 64
 * count as one, and ended ones still count. */
static bool note_thread(void)
{
    static _Atomic uint64_t seen;
    uint64_t bit = UINT64_C(1) << (unsigned)sc_thread_id() % 64;
    uint64_t all = atomic_load_explicit(&seen, memory_order_relaxed);
    if (!(all & bit))
        all = atomic_fetch_or_explicit(&seen, bit, memory_order_relaxed) | bit;
    return __builtin_popcountll(all) >= SEVERAL_THREADS;
}

/* Does a copy of this larger source cost less than the protection of its pages? If several threads
 * copy, or userfaultfd would protect. But protection finds out who overwrites a source, so the
 * first GUARDED_FIRST such sources are protected if few threads copy; this counts them, and the
 * threads. Only of pinned memory, since pages of others are shared. */
static __attribute__((noinline)) bool
is_cheaper_than_guard(enum sc_buffer_kind kind, const struct sc_shape *shape, size_t size_bytes)
{
    static _Atomic unsigned asked;
    if (size_bytes > larger_max() || !sc_options.guard ||
        (kind != SC_PINNED && kind != SC_REGISTERED))
        return false;
    return note_thread() ||
           (sc_guard_uses_userfault(shape->address, sc_shape_hull_bytes(shape), true) &&
            atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed) >= GUARDED_FIRST);
}

/* Is the source small enough to be copied in the call (a snapshot), so that the device reads the
 * copy? */
SC_INLINED bool is_small(enum sc_buffer_kind kind, const struct sc_shape *shape, size_t size_bytes)
{
    return size_bytes <= sc_options.snapshot_max_bytes ||
           is_cheaper_than_guard(kind, shape, size_bytes);
}

/* Returns the size of the largest source that a slot of staging memory has to hold. Memory for that
 * size is allocated when the first such source comes. */
static size_t largest_source(void)
{
    return sc_options.guard && larger_max() > sc_options.snapshot_max_bytes
               ? larger_max()
               : sc_options.snapshot_max_bytes;
}

/* Registers memory of the library with the driver, in the context, so that the device reads
 * snapshots (copies of sources) there at full speed. The thread may be capturing, so the capture
 * mode is relaxed for the call. False: the driver refuses. */
static bool make_readable(struct sc_context *context, void *memory, size_t size_bytes)
{
    if (!sc_contexts_push(context))
        return false;
    struct sc_relaxed relaxed = sc_relaxed_begin();
    SC_INSIDE();
    bool registered = sc_real.cuMemHostRegister_v2 &&
                      sc_real.cuMemHostRegister_v2(memory, size_bytes, 0) == CUDA_SUCCESS;
    sc_relaxed_end(&relaxed);
    sc_contexts_pop();
    return registered;
}

/* A context's staging memory: pinned blocks of the library's, cut into slots, each for one
 * snapshot. They are unmapped with the context. */
struct sc_staging_of_context {
    struct sc_staging staging;
    struct block {
        void *memory;
        size_t bytes;
        size_t own_bytes; /* of this record, with those of its slots */
        struct block *next;
    } * first;
    bool refused; /* the driver has refused memory, and will again */
};

/* Creates the context's staging memory (pinned memory for copies of sources) at its first use,
 * without blocks yet, unless another thread has created it by now. NULL: no memory. */
static __attribute__((noinline)) struct sc_staging_of_context *
new_staging(struct sc_context *context)
{
    SC_LOCKED(&grow_lock);
    struct sc_staging_of_context *own =
        atomic_load_explicit(&context->staging, memory_order_relaxed);
    if (!own && (own = sc_pages_map(sizeof *own)) != NULL) {
        SC_TRACKED(sc_staging_init(&own->staging, track.order, largest_source()));
        atomic_store_explicit(&context->staging, own, memory_order_release);
    }
    return own;
}

SC_INLINED struct sc_staging_of_context *staging_of(struct sc_context *context)
{
    struct sc_staging_of_context *own =
        atomic_load_explicit(&context->staging, memory_order_acquire);
    return sc_likely(own != NULL) ? own : new_staging(context);
}

/* Adds a block to the context's staging memory: pinned pages, cut into slots for one copy of a
 * source each. The records of its slots lie behind its own. False: there is no memory, or the
 * driver refuses to register it. The lock is the calling thread's, or that of the thread that waits
 * for this one (sc_library_threads_call). */
static bool add_block_locked(struct sc_context *context, struct sc_staging_of_context *own,
                             const struct sc_staging_block *wanted) SC_REQUIRES(grow_lock)
{
    size_t own_bytes = sizeof(struct block) + wanted->record_bytes;
    struct block *block = sc_pages_map(own_bytes);
    void *memory = block ? sc_pages_map(wanted->bytes) : NULL;
    if (!memory || !make_readable(context, memory, wanted->bytes)) {
        sc_pages_unmap(memory, wanted->bytes);
        sc_pages_unmap(block, own_bytes);
        return false;
    }
    *block = (struct block){memory, wanted->bytes, own_bytes, own->first};
    own->first = block;
    if (sc_options.memory)
        sc_ledger_keep(&sc_ledger, (uintptr_t)memory, wanted->bytes);
    SC_TRACKED(
        sc_staging_add(&own->staging, wanted, memory, (struct sc_slot *)(void *)(block + 1)));
    return true;
}

struct growth { /* what add_missing_block is given, perhaps on another thread */
    struct sc_context *context;
    struct sc_staging_of_context *own;
    const struct sc_staging_block *missing;
    bool grown;
};

static void add_missing_block(void *argument) SC_UNFOLLOWED
{
    struct growth *growth = argument;
    growth->grown = add_block_locked(growth->context, growth->own, growth->missing);
}

/* Adds a block of staging memory, since all slots of a size are taken; `missing` of no bytes says
 * that no more is allowed. One thread does so at a time; others take no snapshot (copy of a source)
 * meanwhile, which costs less than to wait. After a refusal by the driver nothing is tried
 * again. */
static __attribute__((noinline)) bool add_missing(struct sc_context *context,
                                                  struct sc_staging_of_context *own,
                                                  const struct sc_staging_block *missing)
{
    struct growth growth = {context, own, missing, false};
    if (missing->bytes == 0 || sc_mutex_trylock(&grow_lock) != 0)
        return false;
    if (!own->refused)
        sc_library_threads_call(add_missing_block, &growth);
    own->refused = !growth.grown;
    sc_mutex_unlock(&grow_lock);
    return growth.grown;
}

/* Takes a free slot of staging memory for a copy of the source, and adds a block if all are taken.
 * NULL: there is none, so that the source is not copied. */
SC_INLINED struct sc_slot *take_slot(struct sc_context *context, struct sc_staging_of_context *own,
                                     const struct sc_slot_source *source)
{
    struct sc_slot *slot = NULL;
    struct sc_staging_block missing;
    int result = sc_track_take_slot(&sc_track, &own->staging, source, &slot, &missing);
    if (sc_unlikely(result == -ENOSPC) && add_missing(context, own, &missing))
        sc_track_take_slot(&sc_track, &own->staging, source, &slot, &missing);
    return slot;
}

/* May a plain load of the source fault? The stack is there, and so is pinned memory, unless the
 * program has changed its protection. Of other memory nobody has said so. */
static bool may_be_unreadable(const struct sc_slot_source *source)
{
    if (source->kind == SC_STACK)
        return false;
    return !source->range || !sc_track_is_plainly_readable(&sc_track, source->range);
}

/* Copies a source whose rows have gaps: the rows lie in the snapshot one behind the other. */
static __attribute__((noinline)) void copy_runs(char *packed, const struct sc_slot_source *source)
{
    struct sc_runs runs = sc_shape_runs(source->shape, source->fold);
    struct sc_run run;
    while (sc_shape_next_run(&runs, &run))
        memcpy(packed + run.before_bytes, (const void *)run.address, run.size_bytes);
}

/* Reads the collected pieces of a source by one system call, which fails where a load would fault.
 * False: some cannot be read. */
static bool read_pieces(struct sc_peek_item *items, unsigned *count)
{
    bool read = true;
    sc_peek_all(items, *count);
    for (unsigned i = 0; i < *count; i++)
        read = read && items[i].read;
    *count = 0;
    return read;
}

/* Copies a source's rows one behind the other where a load may fault: the kernel reads them, a few
 * at a time. False: some cannot be read. */
static __attribute__((noinline)) bool peek_runs(char *packed, const struct sc_slot_source *source)
{
    struct sc_runs runs = sc_shape_runs(source->shape, source->fold);
    struct sc_peek_item items[16]; /* some stacks are small */
    struct sc_run run;
    unsigned count = 0;
    while (sc_shape_next_run(&runs, &run)) {
        if (count == sizeof items / sizeof *items && !read_pieces(items, &count))
            return false;
        items[count++] =
            (struct sc_peek_item){packed + run.before_bytes, run.address, run.size_bytes, false};
    }
    return read_pieces(items, &count);
}

/* Copies the source into the slot (pinned memory that the device reads instead). False: it cannot
 * be read, as it is no memory, or the program has made it unreadable, which does not disturb the
 * driver. Then the device has to read the source itself. */
static bool fill_slot(struct sc_slot *slot, const struct sc_slot_source *source)
{
    bool is_whole = sc_shape_is_whole(source->shape, source->fold);
    size_t size_bytes = sc_shape_used_bytes(source->shape, source->fold);
    uintptr_t address = source->shape->address;
    if (sc_unlikely(may_be_unreadable(source)))
        return is_whole ? sc_peek_anyhow(slot->bytes, address, size_bytes)
                        : peek_runs(slot->bytes, source);
    if (sc_likely(is_whole))
        memcpy(slot->bytes, (const void *)address, size_bytes);
    else
        copy_runs(slot->bytes, source);
    return true;
}

/* Is a copy of these rows cheaper than the protection of their pages? Not if they overlap, or if
 * they are many and far apart, since each is then a miss of the cache. */
static __attribute__((noinline)) bool are_rows_worth_it(const struct sc_shape *shape,
                                                        const struct sc_fold *fold)
{
    enum { ROWS_MAX = 64, HULL_MAX = ROWS_MAX * 2048 };
    size_t hull_bytes = sc_shape_hull_bytes(shape);
    return sc_shape_rows_are_apart(shape, fold) &&
           (hull_bytes <= HULL_MAX || (!fold->pitch_bytes && shape->rows <= ROWS_MAX));
}

/* Should the source be copied in the call, so that the device reads the copy? Only in mode=fix, and
 * for a copy to the device. Not if other work may still write the source (`stable` false). Not in a
 * replay, since the driver has made the call already. */
SC_INLINED_HERE bool sc_snapshots_are_for(enum sc_direction direction, bool stable,
                                          enum sc_buffer_kind kind, const struct sc_shape *shape,
                                          const struct sc_fold *fold)
{
    size_t size_bytes = sc_shape_used_bytes(shape, fold);
    return direction == SC_H2D && stable && size_bytes > 0 &&
           (sc_shape_is_whole(shape, fold) || are_rows_worth_it(shape, fold)) &&
           sc_options.mode == SC_MODE_FIX && !sc_replaying_is_on() &&
           is_small(kind, shape, size_bytes);
}

/* Takes a free slot for a snapshot, in the staging memory of the device's primary context if that
 * is known, since it outlives other contexts. NULL: there is none. */
SC_INLINED_HERE struct sc_slot *sc_snapshots_reserve(struct sc_context *context,
                                                     const struct sc_slot_source *source)
{
    struct sc_context *home = context->primary ? context->primary : context; /* it outlives these */
    struct sc_staging_of_context *own = staging_of(home);
    return own ? take_slot(home, own, source) : NULL;
}

void sc_snapshots_return(struct sc_slot *slot)
{
    SC_TRACKED(sc_staging_put_back(slot));
}

/* Copies a source that the program may change before the device has read it; the device then reads
 * the copy. NULL: the device has to read the source itself. */
struct sc_slot *sc_snapshots_take(struct sc_context *context, enum sc_direction direction,
                                  bool stable, const struct sc_slot_source *source)
{
    if (!sc_snapshots_are_for(direction, stable, source->kind, source->shape, source->fold))
        return NULL;
    struct sc_slot *slot = sc_snapshots_reserve(context, source);
    if (slot && !fill_slot(slot, source)) {
        sc_snapshots_return(slot);
        return NULL;
    }
    return slot;
}

void sc_snapshots_refuse(const struct sc_simple_copy *copy)
{
    SC_TRACKED(sc_inflight_refuse_simple_copy(track.inflight, copy));
}

/* The quick path of a small copy to the device: takes a slot of staging memory, from which the
 * device will read, and copies the source into it, unless it has the same bytes already. False:
 * there is no slot, or this is not such a copy, and the usual path is taken. */
bool sc_snapshots_begin_upload(struct sc_context *context, struct sc_simple_copy *copy)
{
    struct sc_context *home = context->primary ? context->primary : context;
    struct sc_staging_of_context *own = atomic_load_explicit(&home->staging, memory_order_acquire);
    if (!own || sc_options.mode != SC_MODE_FIX ||
        !sc_track_begin_simple_copy(&sc_track, &own->staging, copy))
        return false;
    if (!copy->is_filled)
        memcpy(copy->slot->bytes, (const void *)copy->host, copy->size_bytes);
    return true;
}

/* ---- the end ---- */

/* Unmaps a block's pages, which the ledger of memory counts as the library's own until then. */
static void unmap_memory(const struct block *block)
{
    sc_ledger_keep(&sc_ledger, (uintptr_t)block->memory, 0);
    sc_pages_unmap(block->memory, block->bytes);
}

/* Has the context staging memory? It is made with the first snapshot, and stays until the context
 * ends. */
bool sc_snapshots_have(const struct sc_context *context)
{
    return atomic_load_explicit(&context->staging, memory_order_relaxed) != NULL;
}

/* Removes a block of staging memory (pinned memory with copies of sources) of which the device
 * reads nothing, and returns it; NULL: there is none. */
static struct block *take_block_locked(struct sc_staging_of_context *own) SC_REQUIRES(grow_lock)
{
    for (struct block **link = &own->first, *block; (block = *link) != NULL; link = &block->next) {
        const struct sc_slot *records = (const struct sc_slot *)(const void *)(block + 1);
        if (!SC_TRACKED(sc_staging_remove(&own->staging, records, block->bytes)))
            continue;
        *link = block->next;
        return block;
    }
    return NULL;
}

/* Called when the driver lacks memory for the program: frees the blocks of the context's staging
 * memory that the device reads nothing of. Returns whether there were any. Slots that streams keep
 * for their next copy count as free. */
bool sc_snapshots_give_up(struct sc_context *context)
{
    struct sc_staging_of_context *own =
        atomic_load_explicit(&context->staging, memory_order_acquire);
    struct block *block;
    bool any = false;
    SC_INSIDE();
    SC_LOCKED(&grow_lock);
    SC_TRACKED(sc_staging_release_all_kept(track.order));
    while (own && (block = take_block_locked(own)) != NULL) {
        any = true;
        if (sc_real.cuMemHostUnregister(block->memory) != CUDA_SUCCESS)
            continue; /* leaked: the device may still use it */
        unmap_memory(block);
        sc_pages_unmap(block, block->own_bytes);
    }
    return any;
}

/* Called when the context has ended: unmaps its staging memory (pinned memory with copies of
 * sources), which the driver has unregistered. The records stay, leaked, if a thread still has a
 * slot: it was about to use the context. */
void sc_snapshots_context_gone(struct sc_context *context)
{
    struct sc_staging_of_context *own = atomic_exchange(&context->staging, NULL);
    if (own)
        SC_TRACKED(sc_staging_end(&own->staging));
    bool whole = own && sc_staging_has_all_slots(&own->staging);
    for (struct block *block = own ? own->first : NULL, *next; block; block = next) {
        next = block->next;
        unmap_memory(block);
        if (whole)
            sc_pages_unmap(block, block->own_bytes);
    }
    if (whole)
        sc_pages_unmap(own, sizeof *own);
}

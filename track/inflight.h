/* The index of what is in flight: the ranges of host memory that the driver knows, and the
 * asynchronous operations that the host does not yet know to be done. Operations on device memory
 * (track/device.h) are in it as well, but on no range and in no list of their stream. The rule of
 * conflict is in track/conflicts.h.
 *
 * A range is an allocation or a registration. An operation lies on a range. If the driver uses
 * pageable memory after the call has returned (docs/driver.md), it lies on no range.
 *
 * Operations retire when they are known done. An operation that is merely complete stays, because
 * freeing its buffer is still a race, which timing hid. Only the latest SC_RETAINED_MAX of those
 * stay, so that a program which never synchronises does not fill the memory.
 *
 * An operation equal to an earlier one (same rows, stream and direction) replaces it: whoever waits
 * for the later one has waited for the earlier.
 *
 * A kernel that has an address of host memory is an operation without a direction on the byte
 * there. The operation may read that byte, and is assumed to write nothing. It counts as known done
 * once a kernel has told the host so (track/kernel_flags.h).
 *
 * Locks: every function needs the owner's lock, except those that say "lock-free". */
#ifndef SC_TRACK_INFLIGHT_H
#define SC_TRACK_INFLIGHT_H

#include "track/exempt_pages.h"
#include "track/grid.h"
#include "track/op_info.h"
#include "track/spans.h"
#include "track/unseen.h"

struct sc_ops;

enum { SC_RETAINED_MAX = 1 << 16 };

struct sc_range {
    struct sc_grid_node node; /* first: the grid's rule */
    _Atomic uint32_t kind;    /* enum sc_buffer_kind; atomic, as look-ups take no lock */
    _Atomic uint32_t context;
    _Atomic uint32_t op_count;
    _Atomic uint32_t writer_count; /* operations among them that write host memory */
    _Atomic uint32_t source_count; /* operations among them that are copies to the device */
    /* The stream of all its operations; 0: they are of several streams. */
    _Atomic uint32_t only_stream;
    _Atomic uint32_t guarding;  /* enum sc_guarding */
    _Atomic uint32_t snapshots; /* enum sc_snapshots */
    _Atomic uint32_t origin;    /* track/origins.h */
    uint32_t first_op, last_op; /* the latest and the earliest operation of its list */
};

/* An operation in flight. Its links fill the first cache line, so that adding or removing a
 * neighbour touches no other line. */
struct sc_op {
    _Alignas(64) struct sc_grid_node node; /* the hull */
    _Atomic uint32_t key_next;
    uint32_t range_previous, range_next;
    uint32_t stream_previous, stream_next;
    uint32_t first_span; /* the list of its spans: what of it is guarded now */
    uint32_t first_copy; /* the list of copies of source pages that were let go */
    int32_t accused;     /* the thread that was last reported to touch it too early; 0: none */
    struct sc_op_info info;
    /* its guard begins only when the unseen waits (track/unseen.h) before it are over */
    bool awaits_guard;
    bool retained; /* complete, kept for latent hazards */
    bool cut;      /* some of its pages were let go */
    /* its source was compared just now: `differs` says whether it differs from the copies */
    bool looked;
    bool differs;
    _Atomic bool comparing; /* track/comparisons.h */
    uint64_t chosen_ticks;  /* when its pages were chosen, or looked at once more */
};

enum { SC_RELEASED_MAX = 1024 }; /* released operations whose pages stay protected */

/* A released operation: it was seen complete, so that its pages may be touched. The pages of the
 * latest ones stay protected, since the next operation often wants them protected again. */
struct sc_released {
    uint32_t op; /* 0: none */
    /* The ticket's number then; another number now: the operation was issued again. */
    uint64_t number;
};

/* How many operations, and how many of their bytes, stop being watched by a call: an early touch
 * there would be missed. */
struct sc_unwatched {
    uint64_t operations;
    uint64_t bytes;
};

enum { SC_INFLIGHT_KEYS = 1 << 16 }; /* slots of `keys` */

struct sc_inflight {
    struct sc_order *order;
    struct sc_pool ranges;
    struct sc_pool ops;
    struct sc_grid range_grid;
    struct sc_blocks range_blocks;  /* where ranges are or were */
    _Atomic uint32_t managed_count; /* ranges of managed memory */
    uint32_t managed_source_count;  /* operations that read managed memory */
    struct sc_grid op_grid;         /* operations on memory that only the driver frees */
    /* operations on memory that a call of libc's could take away (free, munmap) */
    struct sc_grid heap_grid;
    struct sc_grid device_grid; /* operations on device memory */
    struct sc_spans guards;
    struct sc_exempt_pages exempt_pages; /* pages of ranges */
    struct sc_pool copies;               /* of pages (source_copies.c) */
    struct sc_unwatched uncompared;      /* sources of which there could be no copy */
    _Atomic uint32_t comparing;          /* how many sources are (track/comparisons.h) */
    bool guard_until_known;              /* and not only until complete */
    struct sc_no_verdicts *no_verdicts;  /* of what is forgotten for want of room, or NULL */
    struct sc_released released[SC_RELEASED_MAX]; /* the latest ones; others are unguarded */
    uint32_t released_count;                      /* that there ever were */
    _Atomic uint32_t *keys; /* operations of equal keys are in a list; read without the lock */
    uint32_t busy;          /* first stream with operations */
    uint32_t retained;
    uint32_t awaiting_guard;                 /* operations */
    _Atomic uint32_t neighbour_source_count; /* of ranges that sc_inflight_is_neighbour names */
    /* Ids of two records that stand in for ranges: for operations on no range, and for those on
     * device memory. */
    uint32_t no_range, device_memory;
    /* The operation for which the last early touch waited; stream 0: none. */
    struct sc_ticket awaited;
    struct sc_range *nowhere; /* the record of `no_range` */
};

/* 0 or -ENOMEM. */
int sc_inflight_init(struct sc_inflight *inflight, struct sc_order *order);

/* Adds a range and returns its id; 0: no memory, or no bytes. Ranges that it overlaps are removed,
 * since the driver has just said that this one is valid. */
uint32_t sc_inflight_add_range(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                               enum sc_buffer_kind kind, uint32_t context);
/* Removes the range. Operations still on it stay in flight, on no range. */
void sc_inflight_remove_range(struct sc_inflight *inflight, uint32_t range);

/* The range that contains the address, or 0; SC_GRID_RETRY if a change was under way
 * (track/grid.h). Lock-free. */
uint32_t sc_inflight_range_of(struct sc_inflight *inflight, uintptr_t address);

static inline struct sc_range *sc_inflight_range(struct sc_inflight *inflight, uint32_t range)
{
    return sc_pool_at(&inflight->ranges, range);
}

/* The id of the record whose list an operation is in: its range, or one of the two stand-ins. */
static inline uint32_t sc_inflight_list_owner(const struct sc_inflight *inflight,
                                              const struct sc_op_info *info)
{
    if (info->kind == SC_DEVICE)
        return inflight->device_memory;
    return info->range ? info->range : inflight->no_range;
}

/* Are copies to the device in flight on the range? Lock-free. */
static inline bool sc_inflight_has_sources(struct sc_inflight *inflight, uint32_t range)
{
    return atomic_load_explicit(&sc_inflight_range(inflight, range)->source_count,
                                memory_order_relaxed) != 0;
}

/* Is the range pinned memory that may share its first or last page with other pinned memory?
 * Lock-free. */
static inline bool sc_inflight_is_neighbour(const struct sc_inflight *inflight,
                                            const struct sc_range *range)
{
    uintptr_t address = atomic_load_explicit(&range->node.address, memory_order_relaxed);
    size_t size_bytes = atomic_load_explicit(&range->node.size_bytes, memory_order_relaxed);
    return ((address | size_bytes) & inflight->guards.page_mask) != 0 &&
           atomic_load_explicit(&range->kind, memory_order_relaxed) == SC_PINNED;
}

/* Could an operation of the stream on the range conflict with one in flight there? `writes`:
 * whether the operation writes host memory. Operations of one stream are ordered. Lock-free. */
static inline bool sc_inflight_may_conflict(const struct sc_range *range, bool writes,
                                            uint32_t stream)
{
    const _Atomic uint32_t *count = writes ? &range->op_count : &range->writer_count;
    return atomic_load_explicit(count, memory_order_relaxed) != 0 &&
           atomic_load_explicit(&range->only_stream, memory_order_relaxed) != stream;
}

static inline struct sc_op *sc_inflight_op(struct sc_inflight *inflight, uint32_t op)
{
    return sc_pool_at(&inflight->ops, op);
}

/* May an operation on device memory overlap the interval? Lock-free. */
static inline bool sc_inflight_may_overlap_on_device(struct sc_inflight *inflight,
                                                     uintptr_t address, size_t size_bytes)
{
    return sc_grid_may_overlap(&inflight->device_grid, address, size_bytes);
}

/* May an operation in flight write the range, or memory on no range? Lock-free. */
static inline bool sc_inflight_may_be_written(struct sc_inflight *inflight, uint32_t range)
{
    const struct sc_range *on = range ? sc_inflight_range(inflight, range) : inflight->nowhere;
    return atomic_load_explicit(&on->writer_count, memory_order_relaxed) != 0 ||
           atomic_load_explicit(&inflight->nowhere->writer_count, memory_order_relaxed) != 0;
}

/* Does an operation in flight write into the shape's hull? Also true if it writes only between the
 * shape's rows. */
bool sc_inflight_is_written(struct sc_inflight *inflight, uint32_t range,
                            const struct sc_shape *shape);

/* Adds an operation that was issued. An equal operation is replaced; if that one's source was
 * changed since its issue, it is added to `overwritten`. False: out of memory, the operation is not
 * tracked. */
bool sc_inflight_add(struct sc_inflight *inflight, const struct sc_op_info *info,
                     struct sc_ops *overwritten);
void sc_inflight_drop(struct sc_inflight *inflight, uint32_t op);

/* Adds a simple copy (track/track_copies.h), with which nothing in flight conflicts, and gives it a
 * ticket. False: nothing was done, since an equal operation came another way, there is no memory,
 * or pages of a copy to the host have to be looked at. */
struct sc_simple_copy;
bool sc_inflight_issue_simple_copy(struct sc_inflight *inflight, const struct sc_simple_copy *copy,
                                   struct sc_ticket *ticket, struct sc_ops *overwritten);

/* May an equal one be in flight? Lock-free. */
bool sc_inflight_may_have_alike(struct sc_inflight *inflight, const struct sc_simple_copy *copy);

/* The snapshot of an equal copy to the device, if the source has not changed since: that copy is
 * none of which the source is compared from now on. Or NULL. */
struct sc_slot *sc_inflight_take_snapshot(struct sc_inflight *inflight,
                                          const struct sc_simple_copy *copy);

/* As it is described to others. */
void sc_inflight_describe_simple_copy(struct sc_inflight *inflight,
                                      const struct sc_simple_copy *copy, struct sc_op_info *info);

/* The operation with the same shape, stream, direction, kind and range, or 0. No other field of
 * `key` is looked at. */
uint32_t sc_inflight_find_equal(struct sc_inflight *inflight, const struct sc_op_info *key);

/* The operation of an earlier launch has been issued again on its stream: gives it a new ticket.
 * `guarded`: whether it would be guarded now. False: nothing was changed, since its guard or its
 * source has to be looked at anew. */
bool sc_inflight_renew_op(struct sc_inflight *inflight, uint32_t op, bool guarded);

/* A walk over the operations whose hulls overlap an interval and that are not known done. No
 * operation may be added or dropped during the walk. */
struct sc_inflight_walk {
    struct sc_op *op; /* the present operation; NULL: the walk is over */
    struct sc_inflight *inflight;
    struct sc_grid_walk at;
};
struct sc_inflight_walk sc_inflight_begin_walk(struct sc_inflight *inflight, uintptr_t address,
                                               size_t size_bytes);
void sc_inflight_next(struct sc_inflight_walk *walk);

#define SC_INFLIGHT_EACH(walk, inflight, address, size_bytes)                                      \
    for (struct sc_inflight_walk walk = sc_inflight_begin_walk(inflight, address, size_bytes);     \
         walk.op; sc_inflight_next(&walk))

/* The reasons why the operation's order is not certain now, as bits of enum sc_unsure; 0: it is
 * certain. */
static inline unsigned sc_ops_unsure(struct sc_order *order, const struct sc_op_info *info)
{
    bool waits = __builtin_expect(info->unseen_waits.waits != 0, 0) &&
                 sc_unseen_is_open(order, &info->unseen_waits);
    return info->unsure | (waits ? SC_UNSURE_WAITS : 0u);
}

/* Retires operations that are known done: of the stream, or of all streams if `stream` is 0; at
 * most `limit` of them. True: there may be more. Unless `overwritten` is NULL, sources are compared
 * with the copies that were made of them. Operations whose source differs are added to
 * `overwritten`, and so are those whose source is a local of a function that has returned. */
bool sc_inflight_retire(struct sc_inflight *inflight, uint32_t stream, unsigned limit,
                        struct sc_ops *overwritten);

/* Seals sources (compares them for the last time) before the launch of a kernel that may write the
 * range from this address on: those that the launch comes after. `later` names the launch's stream,
 * and what else it comes after; NULL: all sources there. Overwritten ones are added to
 * `overwritten`. */
void sc_inflight_seal_for_kernel(struct sc_inflight *inflight, uint32_t range, uintptr_t address,
                                 const struct sc_op_info *later, struct sc_ops *overwritten);

/* Adds to `found` the operations for which such a touch of one of these bytes comes too early:
 * those that are not known done, are guarded somewhere, and are to be judged. */
void sc_inflight_find_touched(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                              enum sc_touch touch, struct sc_ops *found);

/* If such a touch of the interval comes too early for some operation, guarded or not: adds all
 * guarded operations that are incomplete and to be judged, and have bytes on the touched pages. */
void sc_inflight_find_beside_touch(struct sc_inflight *inflight, uintptr_t address,
                                   size_t size_bytes, enum sc_touch touch, struct sc_ops *found);

/* Ends the guard of those pages of the interval that are protected from such a touch.
 * `keep_copies`: the bytes of sources on these pages are copied first, and compared when the
 * operations are known done. Operations that lose pages without using the touched bytes themselves
 * are added to `unwatched`, each once. */
void sc_inflight_unprotect(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                           enum sc_touch touch, bool keep_copies, struct sc_unwatched *unwatched);

/* Guards the operations that stood behind unseen waits (track/unseen.h) of which all are over by
 * now. */
void sc_inflight_guard_seen(struct sc_inflight *inflight);

/* Ends the guard of the operation. */
void sc_inflight_unguard(struct sc_inflight *inflight, uint32_t op);

/* The stream's record says that operations up to `complete` were seen complete: these become
 * retained. Beyond SC_RETAINED_MAX the oldest is forgotten. */
void sc_inflight_note_complete(struct sc_inflight *inflight, uint32_t stream);

/* Forgets one complete operation, the oldest of its stream. Operations of `stream` go before those
 * of others. False: no operation is complete. */
bool sc_inflight_forget_complete(struct sc_inflight *inflight, uint32_t stream);

/* The operation that is equal to `info` and has the same ticket number, or 0. */
uint32_t sc_inflight_find(struct sc_inflight *inflight, const struct sc_op_info *info);

#endif

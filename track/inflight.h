/* Memory that the device may be using: the ranges of host memory that the driver knows, and the
 * asynchronous operations on memory that the host does not yet know to be done. What is peculiar to
 * operations on device memory, which lie on no range and on no list of their stream, is in
 * track/device.h; what conflicts with what, in track/conflicts.h.
 *
 * A range is an allocation or a registration. An operation lies on a range, or, where the driver
 * uses pageable memory after the call has returned (docs/driver.md), on none.
 *
 * Operations retire when they are known done. An operation that is merely complete stays, because
 * freeing its buffer is still a race that timing hid. Only the latest SC_RETAINED_MAX of those
 * stay, so that a program which never synchronises does not fill the memory.
 *
 * An operation equal to an earlier one (same rows, stream and direction) replaces it: whoever
 * waits for the later one has waited for the earlier.
 *
 * A kernel that has an address of host memory is an operation of no direction on the byte there. It
 * may read that byte, and is taken to write nothing. Such an operation is as good as known done
 * once a kernel has told the host so (track/kernel_flags.h).
 *
 * Locks: every function needs the owner's lock, except those that say "lock-free".
 */
#ifndef SC_TRACK_INFLIGHT_H
#define SC_TRACK_INFLIGHT_H

#include "track/grid.h"
#include "track/kept_off.h"
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
    _Atomic uint32_t source_count; /* and those that are copies to the device */
    _Atomic uint32_t only_stream;  /* of all of them; 0: they are of several */
    _Atomic uint32_t guarding;     /* enum sc_guarding */
    _Atomic uint32_t snapshots;    /* enum sc_snapshots */
    _Atomic uint32_t origin;       /* track/origins.h */
    uint32_t first_op, last_op;    /* the latest, and the earliest */
};

/* Its links fill the first line of the cache, so that neighbours which come and go touch no more.
 */
struct sc_op {
    _Alignas(64) struct sc_grid_node node; /* the hull */
    _Atomic uint32_t key_next;
    uint32_t range_previous, range_next;
    uint32_t stream_previous, stream_next;
    uint32_t first_span; /* what of it is guarded now */
    uint32_t first_copy; /* of source pages that were let go */
    int32_t accused;     /* the thread that was last reported to touch it too early; 0: none */
    struct sc_op_info info;
    bool awaits_guard; /* until the waits before it are over */
    bool retained;     /* complete, kept for latent hazards */
    bool cut;          /* some of its pages were let go */
    bool looked;       /* at its source, just now: `differs` from the snapshot */
    bool differs;
    _Atomic bool comparing; /* track/comparisons.h */
    uint64_t chosen_ticks;  /* when its pages were chosen, or looked at once more */
};

/* Operations that were seen complete, and whose pages may be touched: they stay protected until
 * they are, since the next operation often wants them so. */
enum { SC_RELEASED_MAX = 1024 };

struct sc_released {
    uint32_t op;     /* 0: none */
    uint64_t number; /* of its ticket: the operation has not been issued again since */
};

/* Operations, and their bytes, of which a touch would be missed from now on. */
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
    uint32_t managed_source_count;  /* operations that read such memory */
    struct sc_grid op_grid;         /* operations on ranges that only the driver frees */
    struct sc_grid heap_grid;   /* operations on memory that free() or munmap() could take away */
    struct sc_grid device_grid; /* operations on device memory */
    struct sc_spans guards;
    struct sc_kept_off kept_off;        /* pages of ranges */
    struct sc_pool copies;              /* of pages (source_copies.c) */
    struct sc_unwatched uncompared;     /* sources of which there could be no copy */
    _Atomic uint32_t comparing;         /* how many sources are (track/comparisons.h) */
    bool guard_until_known;             /* and not only until complete */
    struct sc_no_verdicts *no_verdicts; /* of what is forgotten for want of room, or NULL */
    struct sc_released released[SC_RELEASED_MAX]; /* the latest ones; others are unguarded */
    uint32_t released_count;                      /* that there ever were */
    _Atomic uint32_t *keys; /* operations of equal keys are in a list; read without the lock */
    uint32_t busy;          /* first stream with operations */
    uint32_t retained;
    uint32_t awaiting_guard;                 /* operations */
    _Atomic uint32_t neighbour_source_count; /* of ranges that sc_inflight_is_neighbour names */
    /* Ids of the records in whose lists operations on no range are, and those on device memory. */
    uint32_t no_range, device_memory;
    struct sc_ticket awaited; /* by the last touch that came too early; stream 0: none */
    struct sc_range *nowhere; /* the record of `no_range` */
};

/* 0 or -ENOMEM. */
int sc_inflight_init(struct sc_inflight *inflight, struct sc_order *order);

/* A new range, or 0. It replaces what overlaps it: the driver has just said that this is valid. */
uint32_t sc_inflight_add_range(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                               enum sc_buffer_kind kind, uint32_t context);
/* Operations still on it stay, on no range. */
void sc_inflight_remove_range(struct sc_inflight *inflight, uint32_t range);

/* The range that contains the address, or 0. Lock-free but for SC_GRID_RETRY. */
uint32_t sc_inflight_range_of(struct sc_inflight *inflight, uintptr_t address);

static inline struct sc_range *sc_inflight_range(struct sc_inflight *inflight, uint32_t range)
{
    return sc_pool_at(&inflight->ranges, range);
}

/* The record in whose list such an operation lies: its range, or what stands for no range, or for
 * all device memory. */
static inline uint32_t sc_inflight_home(const struct sc_inflight *inflight,
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

/* Is it pinned memory on whose first or last page other pinned memory may lie? Lock-free. */
static inline bool sc_inflight_is_neighbour(const struct sc_inflight *inflight,
                                            const struct sc_range *range)
{
    uintptr_t address = atomic_load_explicit(&range->node.address, memory_order_relaxed);
    size_t size_bytes = atomic_load_explicit(&range->node.size_bytes, memory_order_relaxed);
    return ((address | size_bytes) & inflight->guards.page_mask) != 0 &&
           atomic_load_explicit(&range->kind, memory_order_relaxed) == SC_PINNED;
}

/* Could an operation of the stream on the range, which writes host memory or does not, conflict
 * with one in flight there? Operations of one stream are ordered. Lock-free. */
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

/* Is anything in flight that writes the range, or that lies on no range and writes? Lock-free. */
static inline bool sc_inflight_may_be_written(struct sc_inflight *inflight, uint32_t range)
{
    const struct sc_range *on = range ? sc_inflight_range(inflight, range) : inflight->nowhere;
    return atomic_load_explicit(&on->writer_count, memory_order_relaxed) != 0 ||
           atomic_load_explicit(&inflight->nowhere->writer_count, memory_order_relaxed) != 0;
}

/* Is anything in flight that writes these bytes of the range, or between the rows? */
bool sc_inflight_is_written(struct sc_inflight *inflight, uint32_t range,
                            const struct sc_shape *shape);

/* False: out of memory, the operation is not tracked. An equal operation that it replaces is
 * returned in `overwritten` if its source was changed since. */
bool sc_inflight_add(struct sc_inflight *inflight, const struct sc_op_info *info,
                     struct sc_ops *overwritten);
void sc_inflight_drop(struct sc_inflight *inflight, uint32_t op);

/* The same of a simple copy, which gets a ticket, where nothing in flight conflicts with it. False:
 * nothing was done, since an equal operation came another way, there is no memory, or pages of a
 * copy to the host are to be looked at. */
struct sc_simple_copy;
bool sc_inflight_issue_simply(struct sc_inflight *inflight, const struct sc_simple_copy *copy,
                              struct sc_ticket *ticket, struct sc_ops *overwritten);

/* May an equal one be in flight? Lock-free. */
bool sc_inflight_may_have_alike(struct sc_inflight *inflight, const struct sc_simple_copy *copy);

/* The snapshot of an equal copy to the device, if the source has not changed since: that copy is
 * none of which the source is compared from now on. Or NULL. */
struct sc_slot *sc_inflight_take_snapshot(struct sc_inflight *inflight,
                                          const struct sc_simple_copy *copy);

/* As it is described to others. */
void sc_inflight_describe_simply(struct sc_inflight *inflight, const struct sc_simple_copy *copy,
                                 struct sc_op_info *info);

/* The operation with the same shape, stream, direction, kind and range, or 0: nothing else of `key`
 * is looked at. */
uint32_t sc_inflight_find_equal(struct sc_inflight *inflight, const struct sc_op_info *key);

/* The operation of an earlier launch has been issued again on its stream, and gets a new ticket.
 * False: nothing has changed, since the pages of the operation are to be looked at anew. */
bool sc_inflight_issue_again(struct sc_inflight *inflight, uint32_t op, bool guarded);

/* A walk over the operations not known done whose hulls overlap an interval. No operation may come
 * or go while it goes on. */
struct sc_inflight_walk {
    struct sc_op *op; /* where the walk is; NULL: it is over */
    struct sc_inflight *inflight;
    struct sc_grid_walk at;
};
struct sc_inflight_walk sc_inflight_overlaps(struct sc_inflight *inflight, uintptr_t address,
                                             size_t size_bytes);
void sc_inflight_next(struct sc_inflight_walk *walk);

#define SC_INFLIGHT_EACH(walk, inflight, address, size_bytes)                                      \
    for (struct sc_inflight_walk walk = sc_inflight_overlaps(inflight, address, size_bytes);       \
         walk.op; sc_inflight_next(&walk))

/* Why its order is not certain now. */
static inline unsigned sc_ops_unsure(struct sc_order *order, const struct sc_op_info *info)
{
    bool waits = __builtin_expect(info->unseen_waits.waits != 0, 0) &&
                 sc_unseen_is_open(order, &info->unseen_waits);
    return info->unsure | (waits ? SC_UNSURE_WAITS : 0u);
}

/* Retires what is known done, of the stream or, if that is 0, of all, at most `limit` operations.
 * True: there may be more. Unless
 * `overwritten` is NULL, sources are compared with the copies that were made of them. Operations
 * whose source differs are added to `overwritten`, and so are those whose source is a local of a
 * function that has returned. */
bool sc_inflight_retire(struct sc_inflight *inflight, uint32_t stream, unsigned limit,
                        struct sc_ops *overwritten);

/* A kernel that is about to be launched may write the range from the address on. The same is done
 * with sources there that the launch comes after: `later` names its stream, and what else it comes
 * after. NULL: with all sources there. */
void sc_inflight_seal_for_kernel(struct sc_inflight *inflight, uint32_t range, uintptr_t address,
                                 const struct sc_op_info *later, struct sc_ops *overwritten);

/* Adds the operations not known done, guarded anywhere, that forbid the host to touch one of these
 * bytes so, and are to be judged. */
void sc_inflight_touched(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                         enum sc_touch touch, struct sc_ops *found);

/* The same of the incomplete ones that have bytes on the pages of the interval, where such a touch
 * of the interval comes too early for some operation, guarded or not. */
void sc_inflight_touched_beside(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                                enum sc_touch touch, struct sc_ops *found);

/* Lets go of the pages that the interval touches, as far as operations forbid such a touch. With
 * `keep_copies`, the bytes of sources on these pages are copied first, and compared when the
 * operations are known done. What is let go for the sake of other bytes is added to `unwatched`. An
 * operation counts there when the first of its pages goes. */
void sc_inflight_let_go(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                        enum sc_touch touch, bool keep_copies, struct sc_unwatched *unwatched);

/* Waits for the host that were not seen are known to be over: what stood behind them is guarded
 * from now on. */
void sc_inflight_guard_seen(struct sc_inflight *inflight);

/* The operation is no longer guarded at all. */
void sc_inflight_unguard(struct sc_inflight *inflight, uint32_t op);

/* The stream has been seen complete up to its field `complete`: what that covers becomes retained,
 * or is forgotten. */
void sc_inflight_note_complete(struct sc_inflight *inflight, uint32_t stream);

/* Forgets one complete operation, the oldest of its stream. Operations of `stream` go before those
 * of others. False: no operation is complete. */
bool sc_inflight_forget_complete(struct sc_inflight *inflight, uint32_t stream);

/* An operation with this ticket, or 0. */
uint32_t sc_inflight_find(struct sc_inflight *inflight, const struct sc_op_info *info);

#endif

/* The index of what is in flight: the ranges of host memory that the driver knows, and the
 * asynchronous operations that the host does not yet know to be done. Operations on device memory
 * (track/device.h) are in it as well, but in no range and in no list of their stream. The rule of
 * conflict is in track/conflicts.h.
 *
 * A range is an allocation or a registration. An operation belongs to the range that contains its
 * bytes. If the driver uses pageable memory after the call has returned (docs/driver.md), the
 * operation belongs to no range.
 *
 * An operation is known done when the program has waited for it, or for something after it. Then it
 * is removed (it retires). An operation that the device has merely completed stays, because to free
 * its buffer is still a race, which was won by luck. Only the latest SC_RETAINED_MAX of those stay,
 * so that a program which never synchronises does not fill the memory.
 *
 * An operation replaces an earlier one that is equal (same rows, stream and direction): who has
 * waited for the later one has waited for the earlier one.
 *
 * A kernel that has an address of host memory is an operation without a direction on the byte
 * there. It is assumed to read that byte, and to write nothing. It also counts as known done once a
 * kernel may have told the host so by a flag (track/kernel_flags.h).
 *
 * Locks: every function needs the tracker's lock, except those that say "lock-free". */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   grid: the index that finds what lies at an address
 *   guard: page protection of the memory of operations in flight
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   hull: the smallest interval around a shape
 *   in flight: issued, and the host does not know yet that it is done
 *   known done: waited for by the program, itself or by something behind it
 *   latent: of a hazard: the operation was complete at the event, by luck
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   origin: the call that made a buffer or a stream, with its stack
 *   range: host memory that the driver knows: one allocation or one registration
 *   released: of an operation: complete, so that it may be touched, with its pages still
 *       protected
 *   retained: complete and not known done, and kept so that latent hazards are found
 *   retire: to forget an operation that is known done
 *   seal: to compare a source for the last time, because the device is about to write it
 *   shape: which bytes an operation uses, row by row
 *   simple copy: a copy between device and pinned memory, on a stream without ties, with no
 *       conflict
 *   slot: the place of one snapshot in staging memory
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   span: a run of pages that one operation wants protected
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

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
    _Atomic uint32_t kind;    /* enum sc_buffer_kind; atomic, since look-ups take no lock */
    _Atomic uint32_t context;
    _Atomic uint32_t op_count;
    _Atomic uint32_t writer_count; /* operations among them that write host memory */
    _Atomic uint32_t source_count; /* operations among them that are copies to the device */
    /* The stream of all its operations; 0: they are of several streams, or there are none. */
    _Atomic uint32_t only_stream;
    _Atomic uint32_t guarding;  /* enum sc_guarding */
    _Atomic uint32_t snapshots; /* enum sc_snapshots */
    _Atomic uint32_t origin;    /* the call that made it (track/origins.h) */
    uint32_t first_op, last_op; /* the latest and the earliest operation of its list */
};

/* An operation in flight. Its links fill the first cache line, so that adding or removing a
 * neighbour in a list touches no other line. */
struct sc_op {
    _Alignas(64) struct sc_grid_node node; /* its hull: the smallest interval around its bytes */
    _Atomic uint32_t key_next;
    uint32_t range_previous, range_next;
    uint32_t stream_previous, stream_next;
    uint32_t first_span; /* the list of its spans: the pages that are protected for it */
    uint32_t first_copy; /* the list of copies of its source's pages that are protected no longer */
    int32_t accused; /* the last thread that was reported to access its memory too early; 0: none */
    struct sc_op_info info;
    /* its pages are to be protected only when the waits before it for the host, whose end no call
     * tells (track/unseen.h), are over */
    bool awaits_guard;
    /* complete, and kept so that a later free or access is still found (latent hazard) */
    bool retained;
    bool cut; /* some of its pages are protected no longer */
    /* its source was compared just now; `differs`: it is not equal to the copies */
    bool looked;
    bool differs;
    /* a thread compares its source without the lock (track/comparisons.h) */
    _Atomic bool comparing;
    uint64_t chosen_ticks; /* when its pages were chosen for protection, or checked again */
};

enum { SC_RELEASED_MAX = 1024 }; /* released operations whose pages stay protected */

/* A released operation: it was seen complete, so that the host may access its pages, and nobody is
 * reported. The pages of the latest ones stay protected all the same, since the next operation
 * often wants them protected again. */
struct sc_released {
    uint32_t op; /* the operation's id; 0: none */
    /* The number of its ticket then. If that has changed, the operation was issued again. */
    uint64_t number;
};

/* Operations that are protected no longer because of a call, and how many of their bytes: an early
 * access there would be missed. */
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
    struct sc_blocks range_blocks;  /* where ranges are, or were at some time */
    _Atomic uint32_t managed_count; /* how many ranges are managed memory */
    uint32_t managed_source_count;  /* how many operations read managed memory */
    struct sc_grid op_grid;         /* operations on memory that only the driver frees */
    /* operations on memory that a call of the C library can take away (free, munmap) */
    struct sc_grid heap_grid;
    struct sc_grid device_grid; /* operations on device memory */
    struct sc_spans guards;
    struct sc_exempt_pages
        exempt_pages;      /* pages that must not be protected (track/exempt_pages.h) */
    struct sc_pool copies; /* copies of pages of sources (source_copies.c) */
    /* sources of which no copy could be made, so that an overwrite is not found; counted by the
     * caller */
    struct sc_unwatched uncompared;
    /* how many sources are compared without the lock (track/comparisons.h) */
    _Atomic uint32_t comparing;
    /* operations are guarded until the host has waited for them, and not only until complete
     * (strict=1) */
    bool guard_until_known;
    /* where operations that are dropped for want of room are counted, or NULL */
    struct sc_no_verdicts *no_verdicts;
    /* the latest released operations (complete, still protected); the pages of others are not
     * protected */
    struct sc_released released[SC_RELEASED_MAX];
    uint32_t released_count; /* how many there ever were */
    /* the heads of lists of operations with equal keys; read without the lock */
    _Atomic uint32_t *keys;
    uint32_t busy; /* the first stream with operations */
    uint32_t retained;
    /* how many operations are to be guarded when waits for the host, whose end no call tells, are
     * over */
    uint32_t awaiting_guard;
    /* how many sources (memory that copies read) lie in pinned ranges that may share a page with
     * other pinned memory */
    _Atomic uint32_t neighbour_source_count;
    /* Ids of two records that stand in for a range: of operations in no range, and of those on
     * device memory. */
    uint32_t no_range, device_memory;
    /* The operation for which the last early access was made to wait; stream 0: none. */
    struct sc_ticket awaited;
    struct sc_range *nowhere; /* the record with the id `no_range` */
};

/* Returns 0 or -ENOMEM. */
int sc_inflight_init(struct sc_inflight *inflight, struct sc_order *order);

/* Adds a range and returns its id; 0: no memory, or no bytes. Ranges that it overlaps are removed,
 * since the driver has just said that this one is valid. */
uint32_t sc_inflight_add_range(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                               enum sc_buffer_kind kind, uint32_t context);
/* Removes the range. Its operations stay in flight, in no range. */
void sc_inflight_remove_range(struct sc_inflight *inflight, uint32_t range);

/* Returns the range that contains the address, or 0; SC_GRID_RETRY if the ranges were being changed
 * (track/grid.h). Lock-free. */
uint32_t sc_inflight_range_of(struct sc_inflight *inflight, uintptr_t address);

static inline struct sc_range *sc_inflight_range(struct sc_inflight *inflight, uint32_t range)
{
    return sc_pool_at(&inflight->ranges, range);
}

/* Returns the id of the record whose list the operation is in: its range, or one of the two
 * stand-ins (no_range, device_memory). */
static inline uint32_t sc_inflight_list_owner(const struct sc_inflight *inflight,
                                              const struct sc_op_info *info)
{
    if (info->kind == SC_DEVICE)
        return inflight->device_memory;
    return info->range ? info->range : inflight->no_range;
}

/* Returns true if copies from the range to the device are in flight: their sources have to be
 * compared before something may write there. Lock-free. */
static inline bool sc_inflight_has_sources(struct sc_inflight *inflight, uint32_t range)
{
    return atomic_load_explicit(&sc_inflight_range(inflight, range)->source_count,
                                memory_order_relaxed) != 0;
}

/* Returns true if the range is pinned memory that may share its first or last page with other
 * pinned memory. Lock-free. */
static inline bool sc_inflight_is_neighbour(const struct sc_inflight *inflight,
                                            const struct sc_range *range)
{
    uintptr_t address = atomic_load_explicit(&range->node.address, memory_order_relaxed);
    size_t size_bytes = atomic_load_explicit(&range->node.size_bytes, memory_order_relaxed);
    return ((address | size_bytes) & inflight->guards.page_mask) != 0 &&
           atomic_load_explicit(&range->kind, memory_order_relaxed) == SC_PINNED;
}

/* Returns false only if an operation of the stream on the range would conflict with none in flight
 * there. `writes`: the operation writes host memory. Operations of one stream are ordered.
 * Lock-free. */
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

/* Returns false only if no operation on device memory overlaps the interval. Lock-free. */
static inline bool sc_inflight_may_overlap_on_device(struct sc_inflight *inflight,
                                                     uintptr_t address, size_t size_bytes)
{
    return sc_grid_may_overlap(&inflight->device_grid, address, size_bytes);
}

/* Returns false only if no operation in flight writes memory of the range, or memory in no range.
 * `range`: 0 for memory in no range. Lock-free. */
static inline bool sc_inflight_may_be_written(struct sc_inflight *inflight, uint32_t range)
{
    const struct sc_range *on = range ? sc_inflight_range(inflight, range) : inflight->nowhere;
    return atomic_load_explicit(&on->writer_count, memory_order_relaxed) != 0 ||
           atomic_load_explicit(&inflight->nowhere->writer_count, memory_order_relaxed) != 0;
}

/* Returns true if an operation in flight writes into the shape's hull (the smallest interval around
 * its rows). Also true if it writes only between the rows. */
bool sc_inflight_is_written(struct sc_inflight *inflight, uint32_t range,
                            const struct sc_shape *shape);

/* Adds an operation that was issued. It replaces an equal one; if that one's source was changed
 * since its issue, the equal one is added to `overwritten`. Returns false if there is no memory:
 * the operation is not tracked. */
bool sc_inflight_add(struct sc_inflight *inflight, const struct sc_op_info *info,
                     struct sc_ops *overwritten);
void sc_inflight_drop(struct sc_inflight *inflight, uint32_t op);

/* Adds a simple copy (track/track_copies.h), with which nothing in flight conflicts, and stores its
 * ticket. Returns false, having done nothing, if the slow way is needed (sc_inflight_add): an equal
 * operation was recorded by that way, there is no memory, or the pages of a copy to the host are
 * not protected as they have to be. */
struct sc_simple_copy;
bool sc_inflight_issue_simple_copy(struct sc_inflight *inflight, const struct sc_simple_copy *copy,
                                   struct sc_ticket *ticket, struct sc_ops *overwritten);

/* Returns false only if no operation that is equal to the copy is in flight. Lock-free. */
bool sc_inflight_may_have_alike(struct sc_inflight *inflight, const struct sc_simple_copy *copy);

/* Returns the snapshot of an equal copy to the device that is in flight, if the source has not
 * changed since, for the new copy to read; else NULL. The source of the earlier copy is not
 * compared any more. */
struct sc_slot *sc_inflight_take_snapshot(struct sc_inflight *inflight,
                                          const struct sc_simple_copy *copy);

/* Fills `info` with what is known of the simple copy, to be recorded or compared as an operation.
 */
void sc_inflight_describe_simple_copy(struct sc_inflight *inflight,
                                      const struct sc_simple_copy *copy, struct sc_op_info *info);

/* Returns the operation in flight with the same shape, stream, direction, kind and range as `key`,
 * or 0. No other field of `key` is compared. */
uint32_t sc_inflight_find_equal(struct sc_inflight *inflight, const struct sc_op_info *key);

/* Gives a new ticket (its place in its stream's order) to the operation of an earlier launch, which
 * a launch has issued again on the same stream. `guarded`: operations issued now are guarded.
 * Returns false, having changed nothing, if its pages or its source have to be looked at again. */
bool sc_inflight_renew_op(struct sc_inflight *inflight, uint32_t op, bool guarded);

/* A walk over the operations that are not known done and whose hulls overlap an interval. No
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

/* Returns the reasons why the operation's order is not certain at this moment, as bits of enum
 * sc_unsure; 0: it is certain. A wait for the host before it, whose end no call tells, counts while
 * it is open. */
static inline unsigned sc_ops_unsure(struct sc_order *order, const struct sc_op_info *info)
{
    bool waits = __builtin_expect(info->unseen_waits.waits != 0, 0) &&
                 sc_unseen_is_open(order, &info->unseen_waits);
    return info->unsure | (waits ? SC_UNSURE_WAITS : 0u);
}

/* Removes operations that are known done: those of the stream, or of all streams if `stream` is 0;
 * at most `limit`. Returns true if there may be more. Unless `overwritten` is NULL, compares
 * sources with their copies, and adds to `overwritten` the operations whose source differs, and
 * those whose source is a local variable of a function that has returned. */
bool sc_inflight_retire(struct sc_inflight *inflight, uint32_t stream, unsigned limit,
                        struct sc_ops *overwritten);

/* Seals sources before the launch of a kernel that may write the range from this address on:
 * compares them with their copies for the last time, and adds overwritten ones to `overwritten`.
 * Only sources of operations that the launch comes after are sealed. `later`: the launch's stream,
 * and what else it comes after; NULL: all sources there are sealed. */
void sc_inflight_seal_for_kernel(struct sc_inflight *inflight, uint32_t range, uintptr_t address,
                                 const struct sc_op_info *later, struct sc_ops *overwritten);

/* Adds to `found` the operations that a host access (touch) of one of these bytes would come too
 * early for: those that are guarded at least in part, are not known done, and whose order is known.
 */
void sc_inflight_find_touched(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                              enum sc_touch touch, struct sc_ops *found);

/* If a host access (touch) of the interval would come too early for some operation, guarded or not:
 * adds to `found` all guarded operations that are incomplete, whose order is known, and that have
 * bytes on the pages of the interval. */
void sc_inflight_find_beside_touch(struct sc_inflight *inflight, uintptr_t address,
                                   size_t size_bytes, enum sc_touch touch, struct sc_ops *found);

/* Ends the guard of those pages of the interval that are protected against such an access.
 * `keep_copies`: the bytes of sources on these pages are copied first, and compared when the
 * operations are known done. Operations that lose pages although the accessed bytes are not theirs
 * are added to `unwatched`, each once. */
void sc_inflight_unprotect(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                           enum sc_touch touch, bool keep_copies, struct sc_unwatched *unwatched);

/* Protects the pages of operations for which that was put off, since the host could still fill them
 * while waits for it, whose end no call tells (track/unseen.h), were open; if all these waits are
 * over. */
void sc_inflight_guard_seen(struct sc_inflight *inflight);

/* Ends the protection of the operation's pages, in the records: the caller makes the system calls
 * (sc_guard_apply). */
void sc_inflight_unguard(struct sc_inflight *inflight, uint32_t op);

/* Marks as retained (complete, and kept for latent hazards) the stream's operations that its record
 * says are complete. Beyond SC_RETAINED_MAX the oldest retained one is forgotten. */
void sc_inflight_note_complete(struct sc_inflight *inflight, uint32_t stream);

/* Forgets one complete operation, the oldest of its stream: of `stream` if that has one, else of
 * another stream. Returns false if no operation is complete. */
bool sc_inflight_forget_complete(struct sc_inflight *inflight, uint32_t stream);

/* Returns the operation that is equal to `info` and has the same ticket number, or 0. */
uint32_t sc_inflight_find(struct sc_inflight *inflight, const struct sc_op_info *info);

#endif

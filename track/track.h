/* The mind: what is in flight, what is ordered, what must be held.
 *
 * Locks: one over order, inflight, hold and graphs, and within it one of each event. Under the lock
 * no CUDA function is called, no allocator and no I/O. So the hooks of libc may take it even inside
 * the driver. Every function takes the lock for itself, unless its comment says "lock-free". errno
 * is kept. For a signal handler only the lock-free functions are safe.
 *
 * Handles are the driver's own (CUstream, CUevent) as integers; streams are named by the ids that
 * sc_track_add_stream gave them.
 */
#ifndef SC_TRACK_TRACK_H
#define SC_TRACK_TRACK_H

#include "track/allocations.h"
#include "track/brief_lock.h"
#include "track/device_use.h"
#include "track/events.h"
#include "track/graphs.h"
#include "track/handles.h"
#include "track/hold.h"
#include "track/inflight.h"
#include "track/no_verdicts.h"
#include "track/node_authors.h"
#include "track/told.h"
#include "track/track_views.h"

struct sc_comparisons;

struct sc_track {
    struct sc_track_front front; /* first */
    /* In a line of its own: what lies beside it is read without it. */
    _Alignas(64) struct sc_brief_lock lock;
    _Alignas(64) struct sc_order order;
    struct sc_inflight inflight;
    struct sc_holds holds;
    struct sc_graphs graphs;
    struct sc_events events;
    struct sc_allocations allocations;
    struct sc_node_authors node_authors;
    bool watches_device;      /* set before the first stream is added */
    struct sc_ticket awaited; /* by the last touch that came too early; stream 0: none */
    struct sc_no_verdicts no_verdicts;
    _Atomic uint64_t operations;
};

/* The process's own. Tests make others. */
extern struct sc_track sc_track;

int sc_track_init(struct sc_track *track); /* 0 or -ENOMEM */
void sc_track_destroy(struct sc_track *track);

/* Before the first stream is added: is device memory watched, and are operations guarded until the
 * host knows their end, and not only until they are complete? Neither is so otherwise. */
void sc_track_start(struct sc_track *track, bool watches_device, bool guards_until_known);

/* In a child of fork, where nothing is in flight: free() and munmap() have nothing to look at. */
void sc_track_ignore_libc(struct sc_track *track);

/* ---- streams and order ---- */

/* `context` is the id of the context's legacy stream, 0 when adding that one. 0: no memory. */
uint32_t sc_track_add_stream(struct sc_track *track, enum sc_stream_kind kind, uint32_t context,
                             uintptr_t handle, int device);
void sc_track_remove_stream(struct sc_track *track, uint32_t stream);

/* `green` is a green context: a wait for the primary context waits for its work as well. */
void sc_track_set_primary(struct sc_track *track, uint32_t green, uint32_t primary);

/* Around a call of the driver that is work on the stream (track/order.h). What the call comes after
 * is asked for before the call is made. Each call that begins is ended once. Lock-free on a
 * non-blocking stream, and on a blocking stream if no legacy call was made since its last call. */
void sc_track_begin(struct sc_track *track, uint32_t stream, struct sc_order_call *call);
struct sc_point sc_track_call_point(struct sc_track *track, uint32_t stream,
                                    const struct sc_order_call *call);
void sc_track_end(struct sc_track *track, struct sc_order_call *call, bool issued);
/* Begins a call that waits for all that it comes after. Returns that as a point. */
struct sc_point sc_track_begin_to_wait(struct sc_track *track, uint32_t stream,
                                       struct sc_order_call *call);
/* A call that begins and ends at once. */
void sc_track_work(struct sc_track *track, uint32_t stream);

/* What a synchronise of this kind waits for, as of now. Taken before the real call. */
enum sc_scope { SC_SCOPE_STREAM, SC_SCOPE_LEGACY, SC_SCOPE_CONTEXT };
struct sc_point sc_track_point(struct sc_track *track, uint32_t stream, enum sc_scope scope);
struct sc_point sc_track_event_point(struct sc_track *track, uintptr_t event);
/* The same for who waits for it: nothing where the host knew all before. `behind`: on which stream
 * the event was recorded, and the point's work_ticks, in any case. */
struct sc_behind {
    uint32_t stream; /* 0: not known */
    uint64_t work_ticks;
};
struct sc_point sc_track_event_news(struct sc_track *track, uintptr_t event,
                                    struct sc_behind *behind);

/* The host has seen the point done: compares those sources that take long, without the lock. What
 * is found is for sc_track_known, which follows at once. The caller has no lock of the library's.
 */
void sc_track_compare(struct sc_track *track, const struct sc_point *point,
                      struct sc_comparisons *comparisons);

/* Each ends the point. Known: the host has seen the point done. Operations whose sources are found
 * overwritten are stored in `overwritten`. NULL: nothing is compared, since the memory is gone.
 * `comparisons`: what sc_track_compare has found, or NULL. */
void sc_track_known(struct sc_track *track, struct sc_point *point,
                    const struct sc_comparisons *comparisons, struct sc_ops *overwritten);
void sc_track_forget_point(struct sc_track *track, struct sc_point *point);

/* The call is work that may tell the host, in a way that is not seen, of the end of what the call
 * comes after. It has a number of its own, so that marks which are recorded behind it stand for
 * more than the host may have heard of. */
void sc_track_signal(struct sc_track *track, uint32_t stream, const struct sc_order_call *call);

/* Waits for the host that are not seen (track/unseen.h). Behind: what is issued now on the stream
 * comes after these, and so does what comes after the point; NULL: none. Lock-free where no such
 * wait is open anywhere. */
struct sc_ticket sc_track_unseen_begin(struct sc_track *track, uint32_t stream);
void sc_track_unseen_end(struct sc_track *track, const struct sc_ticket *from);
struct sc_unseen_mark sc_track_unseen_behind(struct sc_track *track, uint32_t stream,
                                             const struct sc_point *after);
static inline bool sc_track_is_seen(struct sc_track *track, uint32_t stream)
{
    return sc_unseen_none(&track->order.unseen) ||
           sc_track_unseen_behind(track, stream, NULL).waits == 0;
}

/* Around the record of an event, which is a call on its stream. Begin returns the point that the
 * event will stand for. sc_track_set_event says so when the record has succeeded, and ends the
 * point. */
struct sc_point sc_track_begin_record(struct sc_track *track, uint32_t stream,
                                      struct sc_order_call *call);
void sc_track_end_record(struct sc_track *track, struct sc_order_call *call, bool issued);
struct sc_point sc_track_context_record_point(struct sc_track *track, uint32_t context);
void sc_track_set_event(struct sc_track *track, uintptr_t event, struct sc_point *point);
void sc_track_forget_event(struct sc_track *track, uintptr_t event);

/* Around a call that makes the stream wait for the event. sc_track_wait is for a wait of which the
 * driver has been told already. */
struct sc_wait {
    struct sc_order_call call;
    uintptr_t event;
    uint32_t recorded_on;
};
void sc_track_begin_wait(struct sc_track *track, uint32_t stream, uintptr_t event,
                         struct sc_wait *wait);
void sc_track_end_wait(struct sc_track *track, struct sc_wait *wait, bool issued);
void sc_track_wait(struct sc_track *track, uint32_t stream, uintptr_t event);

/* All streams of the context and of its green contexts, also streams to come, wait for the point:
 * the event's, taken before the call. Ends the point. */
void sc_track_wait_context(struct sc_track *track, uint32_t context, struct sc_point *point);

/* sc_order_pass: an event that is recorded now stands for more than a mark behind the stream's last
 * operation. */
void sc_track_pass(struct sc_track *track, uint32_t stream);

/* sc_order_first_signal. */
uint64_t sc_track_first_signal(struct sc_track *track, const struct sc_ticket *ticket);

/* Work issued on `stream` from now on comes after the operation (an edge that we inserted). */
void sc_track_order_after(struct sc_track *track, uint32_t stream, const struct sc_ticket *ticket);

/* Everything on the stream up to `number` has been seen complete. */
void sc_track_complete(struct sc_track *track, uint32_t stream, uint64_t number);

/* ---- ranges ---- */

struct sc_range_info {
    uint32_t range; /* 0: no range there */
    uintptr_t address;
    size_t size_bytes;
    enum sc_buffer_kind kind;
    uint32_t context;
    enum sc_guarding guarding;
    enum sc_snapshots snapshots;
    uint32_t origin; /* track/origins.h */
};

/* The driver hands out new memory. Its former owner is gone, and so is what was in flight there: a
 * context that ends on another thread frees its memory before the library hears of that. */
void sc_track_handed_out(struct sc_track *track, uintptr_t address, size_t size_bytes);

void sc_track_add_range(struct sc_track *track, uintptr_t address, size_t size_bytes,
                        enum sc_buffer_kind kind, uint32_t context, uint32_t origin);
void sc_track_remove_range(struct sc_track *track, uintptr_t address);
/* The context is gone, and its memory with it. */
void sc_track_remove_ranges_of(struct sc_track *track, uint32_t context);

/* Lock-free unless a change is under way. */
struct sc_range_info sc_track_find_range(struct sc_track *track, uintptr_t address);
/* Is there one? Cheaper where mostly there is none: no range is remembered or described. */
bool sc_track_has_range(struct sc_track *track, uintptr_t address);

/* The range that was found before, as it is now: it may be gone, which is of no bytes then, and
 * another one may have its id. Lock-free. */
struct sc_range_info sc_track_range_again(struct sc_track *track, uint32_t range);

/* Could an operation of this direction and stream on the range (0: on no range) conflict with one
 * in flight? Lock-free; false only if there is nothing to conflict with. */
bool sc_track_may_conflict(struct sc_track *track, uint32_t range, enum sc_direction direction,
                           uint32_t stream);

/* Are there sources in flight that sc_track_seal for bytes of the range (0: of no range) could look
 * at? Pinned memory shares pages with other pinned memory at most, where neither has whole pages.
 * Lock-free. */
bool sc_track_may_seal(struct sc_track *track, uint32_t range, enum sc_buffer_kind kind);

/* ---- operations ---- */

/* Unordered operations in flight that conflict with what is about to be issued on
 * info->ticket.stream. No other field of the ticket counts here. */
void sc_track_conflicts(struct sc_track *track, const struct sc_op_info *info,
                        struct sc_ops *conflicts);

/* The same for a call that reads or writes the bytes itself, as the direction of `touch` says.
 * `awaited`: only operations for which the host has to wait, which are not complete and have no
 * snapshot. */
void sc_track_met(struct sc_track *track, const struct sc_op_info *touch, bool awaited,
                  struct sc_ops *met);

struct sc_take_down;

struct sc_issued {
    struct sc_ops conflicts;   /* that are still there: a second thread was faster */
    struct sc_ops overwritten; /* an equal operation, whose source was changed since */
};

static inline void sc_issued_end(struct sc_issued *issued)
{
    sc_ops_end(&issued->conflicts);
    sc_ops_end(&issued->overwritten);
}

/* A struct sc_issued that ends with the scope in which it is declared. */
#define SC_ISSUED(name) __attribute__((cleanup(sc_issued_end))) struct sc_issued name = {{0}, {0}}

/* The driver has accepted the call, and with it these operations: ends the call as sc_track_end
 * does (nothing where the call has ended already), gives each operation its ticket and remembers
 * it. */
void sc_track_issue(struct sc_track *track, struct sc_order_call *call, struct sc_op_info *infos,
                    unsigned count, struct sc_issued *issued);

/* ---- kernels that have addresses of host memory ---- */

/* What a launch may use there: so many bytes, each once, with what lies in flags before the launch
 * (track/kernel_flags.h). */
enum { SC_KERNEL_HOST_MAX = 8 };
struct sc_kernel_host {
    unsigned count;
    struct sc_kernel_byte {
        uintptr_t address;
        uint64_t digest;
    } bytes[SC_KERNEL_HOST_MAX];
};

/* Adds those of the addresses that lie in pinned or registered memory, as long as there is room. */
void sc_track_find_kernel_host(struct sc_track *track, const uintptr_t *addresses, unsigned count,
                               struct sc_kernel_host *host);

/* The driver has accepted the launch: remembers its operations, which get one ticket. */
void sc_track_issue_kernel(struct sc_track *track, struct sc_op_info *infos, unsigned count);

/* Before the launch, which may write the memory that it has addresses of
 * (sc_inflight_seal_for_kernel). */
void sc_track_seal_for_kernel(struct sc_track *track, const struct sc_kernel_host *host,
                              const struct sc_op_info *later, struct sc_ops *overwritten);

/* Is there managed memory? Are sources in it in flight? Lock-free. */
static inline bool sc_track_knows_managed(struct sc_track *track)
{
    return atomic_load_explicit(&track->inflight.managed_count, memory_order_relaxed) != 0;
}

static inline bool sc_track_reads_managed(struct sc_track *track)
{
    return atomic_load_explicit(&track->inflight.managed_source_count, memory_order_relaxed) != 0;
}

/* Before work that may write managed memory (sc_inflight_seal_managed); NULL: whatever it comes
 * after. */
void sc_track_seal_managed(struct sc_track *track, const struct sc_op_info *later,
                           struct sc_ops *overwritten);

/* ---- device memory (track/device.h) ---- */

/* Is what happens to device memory to be told? Also while all streams of the process join each
 * other: what they have not done yet is unordered with a stream that is made later. Lock-free. */
static inline bool sc_track_watches_device(struct sc_track *track)
{
    return track->watches_device;
}

/* Operations that conflict with one that is about to be issued on info->ticket.stream. */
void sc_track_device_conflicts(struct sc_track *track, const struct sc_op_info *info,
                               struct sc_ops *conflicts);

/* The driver has accepted one call's uses of device memory, on one stream. They get its number: the
 * first one's ticket names it, or a number of 0 and the place of the call. */
void sc_track_device_issue(struct sc_track *track, struct sc_op_info *infos, unsigned count);

/* What was issued on the stream behind this number conflicts with nothing any more; or what was
 * issued unseen at this time does from now on. */
void sc_track_device_unsee(struct sc_track *track, uint32_t stream, uint64_t number);
void sc_track_device_see(struct sc_track *track, uint32_t stream, uint64_t number, uint64_t ticks);

/* The driver has handed out device memory, at once or in a stream's order: nothing is in flight
 * there. `context`: the id of its context's legacy stream, 0: not known. */
void sc_track_device_allocated(struct sc_track *track, uintptr_t address, size_t size_bytes,
                               uint32_t context, uint32_t origin);

/* The driver has put all that comes in these contexts behind all that they were given so far
 * (sc_device_forget_of). */
void sc_track_device_serialized(struct sc_track *track, const uint32_t *contexts, unsigned count);

/* The memory is about to be given back (sc_allocations_begin_free), and the driver has answered.
 * `info`: what a free in a stream's order does there, whose ticket names the stream; NULL: the free
 * was refused, or is not to be told. It is not remembered where the driver has handed the memory
 * out again meanwhile. */
struct sc_allocation sc_track_device_begin_free(struct sc_track *track, uintptr_t address);
void sc_track_device_end_free(struct sc_track *track, const struct sc_allocation *allocation,
                              bool freed, struct sc_op_info *info);

/* The origin of the block that contains the address, or 0. */
uint32_t sc_track_device_origin(struct sc_track *track, uintptr_t address);

/* Does a block begin there, or is none known that contains the address? */
bool sc_track_device_begins_block(struct sc_track *track, uintptr_t address);

/* How large the block is that begins there; 0: none is known. */
size_t sc_track_device_block_bytes(struct sc_track *track, uintptr_t address);

/* Of a kernel's addresses. Leaves those that lie in a block which is known, or where an operation
 * is, each once, in their order. Returns how many. A block that is taken for flags
 * (track/kernel_flags.h) does not count. */
unsigned sc_track_device_keep_known(struct sc_track *track, uintptr_t *addresses, unsigned count);

/* The context is gone, and its device memory with it. */
void sc_track_device_context_gone(struct sc_track *track, uint32_t context);

/* ---- guards and snapshots ----
 *
 * The caller brings the pages into line (sc_track_apply_guards) after everything here that issues
 * or ends operations. */

/* Operations that forbid the host such a touch of the interval, as far as they are guarded now. */
void sc_track_touched(struct sc_track *track, uintptr_t address, size_t size_bytes,
                      enum sc_touch touch, struct sc_ops *found);

/* A touch that comes too early waits for the operation. */
void sc_track_note_awaited(struct sc_track *track, const struct sc_ticket *ticket);
/* The incomplete ones among these that have bytes on the pages of the interval, where such a touch
 * of the interval itself comes too early (sc_inflight_touched_beside). None, where the operation
 * that was awaited last is known done: nothing shows then that the program does not wait itself. */
void sc_track_touched_beside(struct sc_track *track, uintptr_t address, size_t size_bytes,
                             enum sc_touch touch, struct sc_ops *found);

/* Before the device, or the host in order, writes the interval (sc_inflight_seal). */
void sc_track_seal(struct sc_track *track, uintptr_t address, size_t size_bytes,
                   struct sc_ops *overwritten);

/* Lets go of pages (sc_inflight_let_go). What is not watched then is counted for the reason. */
void sc_track_let_go(struct sc_track *track, uintptr_t address, size_t size_bytes,
                     enum sc_touch touch, bool keep_copies, enum sc_no_verdict_reason reason);

/* `fresh`: those of the operations of which the thread has not been accused. */
void sc_track_find_unaccused(struct sc_track *track, const struct sc_ops *ops, int32_t thread,
                             struct sc_ops *fresh);
/* Accuses the thread of touching the operations. */
void sc_track_accuse(struct sc_track *track, const struct sc_ops *ops, int32_t thread);

/* These operations are no longer guarded. */
void sc_track_unguard(struct sc_track *track, const struct sc_ops *ops);
/* The complete ones among these operations are no longer guarded; the others stay in `ops`. */
void sc_track_unguard_complete(struct sc_track *track, struct sc_ops *ops);
void sc_track_unguard_all(struct sc_track *track);
/* No operation is guarded any more, for want of mappings, which is counted. */
void sc_track_give_up_guards(struct sc_track *track);

/* Makes a hold of kind SC_HOLD_WAIT for these operations, which stay. `request` says where, and
 * gets `held`; 0: there is no memory. */
void sc_track_await(struct sc_track *track, const struct sc_ops *ops, struct sc_take_down *request);

/* Says whether ranges in the interval may be guarded. Forbidding ends the guards that there are. */
void sc_track_set_guarding(struct sc_track *track, uintptr_t address, size_t size_bytes,
                           enum sc_guarding guarding);

/* Says how sources of ranges in the interval may be read from now on. What allows less stays. */
void sc_track_limit_snapshots(struct sc_track *track, uintptr_t address, size_t size_bytes,
                              enum sc_snapshots snapshots);

/* Steps of sc_spans_apply, up to one that the kernel is to be told of. It may refuse what the step
 * leads to (sc_spans_refuse): then the operation is not guarded, and is counted with the reason. */
bool sc_track_apply_guards(struct sc_track *track, unsigned lane, struct sc_access_change *change);
void sc_track_refuse_guard(struct sc_track *track, const struct sc_access_change *change,
                           enum sc_no_verdict_reason reason);
bool sc_track_retry_guards(struct sc_track *track, unsigned lane);
bool sc_track_move_guards(struct sc_track *track, uintptr_t address); /* sc_spans_move_area */
bool sc_track_postpone_guard(struct sc_track *track, unsigned lane,
                             const struct sc_access_change *change); /* sc_spans_postpone */
enum sc_access sc_track_guarded_access(struct sc_track *track, uintptr_t address);
bool sc_track_guards_cover(struct sc_track *track, uintptr_t address);
bool sc_track_watches(struct sc_track *track, uintptr_t address,
                      enum sc_touch touch); /* sc_inflight_watches */
bool sc_track_is_stable(struct sc_track *track,
                        const struct sc_op_info *info); /* sc_inflight_is_stable */

/* Takes a slot for a snapshot of the source. The caller gives back a slot that is not issued.
 * Returns
 * - 0 and a slot;
 * - -ENOSPC where no slot is left, and the block that would give more (of no bytes: there are
 * enough blocks);
 * - -EBUSY while an operation that writes the range, or in no range what is read, has not been seen
 * complete. */
int sc_track_take_slot(struct sc_track *track, struct sc_staging *staging,
                       const struct sc_slot_source *source, struct sc_slot **slot,
                       struct sc_staging_block *missing);
void sc_track_give_slot(struct sc_track *track, struct sc_slot *slot);
void sc_track_end_slots(struct sc_track *track, struct sc_staging *staging); /* sc_staging_end */
void sc_track_add_slots(struct sc_track *track, struct sc_staging *staging,
                        const struct sc_staging_block *block, void *memory,
                        struct sc_slot *records);

/* ---- giving back ---- */

struct sc_take_down {
    uintptr_t address;
    size_t size_bytes;
    bool hold;              /* make a hold if anything is in flight */
    enum sc_hold_kind kind; /* of the hold, with the context it belongs to */
    uint32_t context;
    uint64_t max_held_bytes;
    struct sc_hazard_event by; /* the call, for those who launch a graph that names the memory */
    bool (*hurts)(const struct sc_op_info *op); /* which operations the call hurts; NULL: all */
    bool passes_kernels;                        /* what only kernels may use is not held */
    bool stays;   /* the memory stays the program's: the operations remain tracked */
    bool settles; /* before a wait, holds for a graph are made ordinary ones: the memory becomes
                     something else (sc_track_forget_graph_holds) */
    /* results */
    struct sc_ops found; /* in flight; no longer tracked, unless `stays` or must_wait */
    bool by_graph;       /* a graph names the memory */
    uint32_t held;       /* the hold, or 0; the range is gone if the driver is to have it back */
    uint64_t held_age;   /* of the hold */
    bool must_wait;      /* max_held or memory is used up: nothing has changed, the caller waits */
};

static inline void sc_take_down_end(struct sc_take_down *request)
{
    sc_ops_end(&request->found);
}

/* A struct sc_take_down that ends with the scope in which it is declared. */
#define SC_TAKE_DOWN __attribute__((cleanup(sc_take_down_end))) struct sc_take_down

/* Does an operation in flight, a hold or a range overlap the interval? Exact, under the lock. */
bool sc_track_meets(struct sc_track *track, uintptr_t address, size_t size_bytes);

/* Lock-free: can memory that free(), munmap() and the like would take away be in flight or held? */
static inline bool sc_track_may_be_busy(struct sc_track *track, uintptr_t address,
                                        size_t size_bytes)
{
    return sc_grid_may_overlap(&track->inflight.heap_grid, address, size_bytes) ||
           sc_grid_may_overlap(&track->holds.grid, address, size_bytes) ||
           sc_grid_may_overlap(&track->graphs.heap_grid, address, size_bytes);
}

/* False only if no range is near the object. Lock-free, for callers that come too often to look
 * further. An object that begins before the blocks of ranges does not reach into these. */
static inline bool sc_track_range_may_be_near(struct sc_track *track, const void *object)
{
    return sc_blocks_may_hold_one(&track->inflight.range_blocks, (uintptr_t)object);
}

void sc_track_take_down(struct sc_track *track, struct sc_take_down *request);

/* The operations in flight there, which stay: for a call that must wait in any case. */
void sc_track_in_flight(struct sc_track *track, uintptr_t address, size_t size_bytes,
                        struct sc_ops *found);

/* The memory there is about to be something else: what a graph alone holds is held no longer. */
void sc_track_forget_graph_holds(struct sc_track *track, uintptr_t address, size_t size_bytes);
/* The same for memory of a context that is gone. */
void sc_track_forget_graph_holds_of(struct sc_track *track, uint32_t context);

/* Holds there wait for this operation, too: it is of a launch that uses freed memory. */
void sc_track_hold_longer(struct sc_track *track, uintptr_t address, size_t size_bytes,
                          const struct sc_ticket *ticket);

/* ---- graphs (track/graphs.h) ---- */

void sc_track_graph_add(struct sc_track *track, uintptr_t handle, const struct sc_graph_use *use,
                        const struct sc_graph_extra *extra);
void *sc_track_graph_take_copy(struct sc_track *track, size_t size_bytes, bool for_ever);
void sc_track_graph_add_all(struct sc_track *track, uintptr_t handle, uintptr_t of);
void sc_track_graph_drop_node(struct sc_track *track, uintptr_t handle, uintptr_t node);
void sc_track_graph_enable_node(struct sc_track *track, uintptr_t handle, uintptr_t node,
                                bool enabled);
void sc_track_graph_unjudge_node(struct sc_track *track, uintptr_t handle, uintptr_t node);
void sc_track_graph_unjudge_nodes(struct sc_track *track, uintptr_t handle,
                                  struct sc_handles *nodes);
void sc_track_graph_redirect_node(struct sc_track *track, uintptr_t handle, uintptr_t node);
bool sc_track_graph_tell_of(struct sc_track *track, uintptr_t handle, uintptr_t node,
                            unsigned step);
void sc_track_graph_let_tell(struct sc_track *track, uintptr_t handle, uintptr_t node,
                             unsigned step);
struct sc_graph_flags sc_track_graph_flags(struct sc_track *track, uintptr_t handle,
                                           uintptr_t node);
/* The handle of the graph that knows the node, or of the orphan; 0: none. */
uintptr_t sc_track_graph_of_node(struct sc_track *track, uintptr_t node);
/* Nodes without a name do this no more (sc_graphs_drop_former). True: memory is held that perhaps
 * no graph names any more. */
bool sc_track_graph_drop_former(struct sc_track *track, const struct sc_graph_use *formers,
                                uint32_t count);
/* Fills in where the use came from, and whether its memory was freed since. `node` is the driver's
 * handle of the node that has the use. */
void sc_track_graph_recognise(struct sc_track *track, uintptr_t handle, uintptr_t node,
                              struct sc_graph_use *use, struct sc_graph_extra *extra);
/* The use of this index. False: the graph has no more. */
bool sc_track_graph_use(struct sc_track *track, uint32_t graph, uint32_t at,
                        struct sc_graph_use *use, struct sc_graph_extra *extra);
/* The copy of what the node uses on a stack, or NULL. */
void *sc_track_graph_saved(struct sc_track *track, uintptr_t handle, uintptr_t node,
                           enum sc_direction direction);

/* Around the telling of an exec's uses, which are all that are known of it then. `is_empty`: the
 * nodes of the exec do nothing. */
void sc_track_graph_begin_exec(struct sc_track *track, uintptr_t handle, uint32_t context);
void sc_track_graph_end_exec(struct sc_track *track, uintptr_t handle, bool is_empty);
/* The context is gone, and its execs with it. True: memory is held that perhaps no graph names any
 * more. */
bool sc_track_graphs_context_gone(struct sc_track *track, uint32_t context);
void sc_track_graph_make_runs(struct sc_track *track, uintptr_t handle);

/* A node of the graph records an event, or waits for one. A node may tell the host how far the
 * graph has come (`signals`), or wait for the host (`awaits`). */
void sc_track_graph_add_event(struct sc_track *track, uintptr_t handle,
                              const struct sc_graph_event *event);
void sc_track_graph_meets_host(struct sc_track *track, uintptr_t handle, bool signals, bool awaits);

/* There is a kernel among the nodes of the exec, whose telling has begun. */
void sc_track_graph_meets_kernel(struct sc_track *track, uintptr_t handle);

/* Inner nodes of the exec (sc_graphs_note_inner and what follows it). */
void sc_track_graph_note_inner(struct sc_track *track, uintptr_t exec, uintptr_t inner,
                               uintptr_t around);
enum sc_graph_place sc_track_graph_place_of(struct sc_track *track, uintptr_t exec, uintptr_t node,
                                            uintptr_t *outer);
struct sc_graph_flags sc_track_graph_drop_inner(struct sc_track *track, uintptr_t exec,
                                                uintptr_t outer, uintptr_t inner);
void sc_track_graph_place_inner(struct sc_track *track, uintptr_t exec, uintptr_t outer,
                                uintptr_t inner, const struct sc_graph_flags *flags);
void sc_track_graph_lose_inner(struct sc_track *track, uintptr_t exec);

/* Addresses of the exec's kernels (track/graph_addresses.h). Drop is for those of one node, or with
 * 0 of all. The exec is known in the last one. */
void sc_track_graph_add_address(struct sc_track *track, uintptr_t exec, uintptr_t node,
                                uintptr_t address);
void sc_track_graph_drop_addresses(struct sc_track *track, uintptr_t exec, uintptr_t node);
uint32_t sc_track_graph_addresses(struct sc_track *track, uint32_t exec, uint32_t index,
                                  uintptr_t *into, uint32_t room);

/* What the exec's copies and memsets do with device memory (track/graph_device.h). The exec is
 * known where its id is asked for. What it frees is listed with the size that the block has now. */
void sc_track_graph_add_device(struct sc_track *track, uintptr_t exec, uintptr_t node,
                               const struct sc_device_use *use);
void sc_track_graph_leave_out_device(struct sc_track *track, uintptr_t exec);
uint32_t sc_track_graph_device(struct sc_track *track, uint32_t exec, uint32_t *at, int which,
                               struct sc_device_use *into, uint32_t room);
bool sc_track_graph_own_device(struct sc_track *track, uintptr_t exec,
                               const struct sc_graph_own *own);
void sc_track_graph_settle_device(struct sc_track *track, uintptr_t exec);
void sc_track_graph_place_device(struct sc_track *track, uintptr_t exec,
                                 const struct sc_graph_device_places *places);
void sc_track_graph_place_device_node(struct sc_track *track, uintptr_t exec, uintptr_t node,
                                      const struct sc_graph_flags *flags);
uint32_t sc_track_graph_all_device(struct sc_track *track, uintptr_t exec,
                                   struct sc_graph_device_use *into, uint32_t room);
bool sc_track_graph_add_race(struct sc_track *track, uintptr_t exec,
                             const struct sc_graph_race *race);
bool sc_track_graph_next_race(struct sc_track *track, uint32_t exec, struct sc_graph_race *into);

/* A launch of the exec hands out what its nodes allocate: what was done there is over, or the
 * driver puts in order with it what comes later. Memory that is not known, since it was freed
 * behind the launch before or the node was added by hand, is known by the origin from now on.
 * `context`: as of sc_track_device_allocated. */
void sc_track_graph_allocates(struct sc_track *track, uint32_t exec, uint32_t context,
                              uint32_t origin);

/* Who has added nodes that use device memory alone (track/node_authors.h). */
void sc_track_note_node_author(struct sc_track *track, uintptr_t graph, uintptr_t node,
                               const struct sc_device_use *use, const struct sc_graph_author *by);
struct sc_graph_author sc_track_node_author(struct sc_track *track, uintptr_t graph, uintptr_t node,
                                            const struct sc_device_use *use);

/* Host nodes of execs (track/heard.h), and launches around the driver's call. The exec is known.
 * What a run tells is returned as a point, of stream 0 if it is nothing, for sc_track_known. */
struct sc_heard_node *sc_track_heard_add(struct sc_track *track, uintptr_t exec, uintptr_t node,
                                         void (*function)(void *), void *data);
void sc_track_heard_drop(struct sc_track *track, struct sc_heard_node *node);
void sc_track_heard_replace(struct sc_track *track, struct sc_heard_node *node);
bool sc_track_heard_knows(struct sc_track *track, uintptr_t exec, uintptr_t node);
/* The driver calls the node's function past ours: nothing is heard of the exec any more. */
void sc_track_heard_lose(struct sc_track *track, uintptr_t exec, uintptr_t node);
struct sc_heard_launch *sc_track_heard_begin(struct sc_track *track, uint32_t exec,
                                             const struct sc_point *before,
                                             const struct sc_heard_call *call, unsigned *given_up);
void sc_track_heard_fail(struct sc_track *track, struct sc_heard_launch *launch);
struct sc_point sc_track_heard_launched(struct sc_track *track, struct sc_heard_launch *launch,
                                        const struct sc_told *told);
struct sc_heard_run sc_track_heard_runs(struct sc_track *track, struct sc_heard_node *node);

/* The names of the exec's nodes (sc_graphs_set_names). The second stores them in `names`; false:
 * the exec has not `count` names. */
void sc_track_graph_set_names(struct sc_track *track, uintptr_t handle, const uintptr_t *names,
                              uint32_t count);
bool sc_track_graph_names_of(struct sc_track *track, uintptr_t handle, uintptr_t *names,
                             uint32_t count);

/* Around the call that destroys a graph or an exec (sc_graphs_detach). Remove returns true where
 * what was held for the graph may be given back now. */
uint32_t sc_track_graph_detach(struct sc_track *track, uintptr_t handle);
void sc_track_graph_attach(struct sc_track *track, uint32_t graph);
bool sc_track_graph_remove(struct sc_track *track, uint32_t graph);

/* The program has given the interval back, and no hook was asked before (realloc, mode=report). */
void sc_track_graph_note_freed(struct sc_track *track, uintptr_t address, size_t size_bytes,
                               const struct sc_hazard_event *by);
void sc_track_graph_note_registered(struct sc_track *track, uintptr_t address, size_t size_bytes);
/* Does a graph name memory in the interval? Lock-free where none is near. */
bool sc_track_graph_names(struct sc_track *track, uintptr_t address, size_t size_bytes);

/* ---- launches ----
 *
 * The driver begins a launch of an exec when its former one is complete, on whatever stream that
 * was: each launch leaves a point behind it, with the exec. Launches without work wait for none
 * (docs/driver.md, what counts as queued). */

/* As sc_track_begin. The launch also comes after the last launch of the exec, and after the events
 * for which its nodes wait. */
void sc_track_begin_launch(struct sc_track *track, uint32_t exec, uint32_t stream,
                           struct sc_order_call *call);

/* The next event that a node of the exec records, from index `*at` on. `*at` moves behind it. 0:
 * there is none. */
uintptr_t sc_track_launch_record(struct sc_track *track, uint32_t exec, uint32_t *at);

/* The events that the exec's nodes record stand for the point, which is of the stream before the
 * launch, and for what the nodes tell of. Where `told` is broken they stand for the point alone,
 * and what the nodes tell of is no longer judged. Ends the point. */
void sc_track_launch_records(struct sc_track *track, uint32_t exec, struct sc_point *point,
                             const struct sc_told *told);

/* The host may learn in a way that is not seen when the last launch of the exec is done. Returns
 * the stream of that launch; 0: there was none. */
uint32_t sc_track_graph_signal_launch(struct sc_track *track, uintptr_t exec);

/* The launch and its operations have been issued. */
void sc_track_launched(struct sc_track *track, uintptr_t exec, uint32_t stream);

/* The exec has been launched once more on the stream of its last launch. Its runs that are still in
 * flight there, and that are as they were, are issued again, up to the first run that is not so.
 * For that run and all behind it the caller issues operations, and calls sc_track_launched. */
struct sc_relaunch {
    uint32_t exec; /* id of the graph */
    uint32_t stream;
    const char *api;
    uint32_t stack;
    int32_t thread;
    uint64_t ticks;
    bool guards; /* what is issued now would be guarded */
    struct sc_unseen_mark unseen_waits;
    struct sc_told *told; /* notes the numbers; NULL: no node tells of anything */
    /* results */
    uint32_t done;
    size_t size_bytes;
    uint64_t place; /* of the call, in a legacy stream */
};

void sc_track_launch_again(struct sc_track *track, struct sc_relaunch *launch);

/* Operations on freed memory are known to its holds only. Stores the tickets of those that a launch
 * has to come after and does not come after. `info` is what the launch does with the freed memory.
 * Returns how many tickets were stored. */
unsigned sc_track_held_before(struct sc_track *track, const struct sc_op_info *info,
                              struct sc_ticket *tickets, unsigned max);

struct sc_release {
    uint32_t hold; /* 0: nothing is ready */
    enum sc_hold_kind kind;
    uintptr_t address;
    size_t size_bytes;
    uint32_t context;
    uint64_t since_ns;
    uint64_t age;
};

/* The oldest hold of more than this age that can be given back. Whoever takes the hold ends it, or
 * puts it back to be taken later. No complete operation on its memory is tracked any more; its
 * pages may be unapplied. */
struct sc_release sc_track_take_ready(struct sc_track *track, uint64_t after_age);
void sc_track_end_hold(struct sc_track *track, uint32_t hold);
void sc_track_put_back(struct sc_track *track, uint32_t hold);
bool sc_track_hold_lives(struct sc_track *track, uint32_t hold, uint64_t age);
/* Nobody waits any more for the hold, of kind SC_HOLD_WAIT and of this age: ends it, unless it has
 * been taken. */
void sc_track_leave_hold(struct sc_track *track, uint32_t hold, uint64_t age);

struct sc_hold_totals {
    uint64_t peak_bytes;
    uint64_t peak_ns; /* the longest that one free waited */
};
struct sc_hold_totals sc_track_hold_totals(struct sc_track *track);

/* How many tickets holds still wait for. A ticket counts for each hold. */
unsigned sc_track_awaited(struct sc_track *track);
/* The latest such ticket of each stream, for the `max` lowest ids above `after`, in their order.
 * Returns how many tickets were stored. Fewer than max: no stream is left. */
unsigned sc_track_awaited_streams(struct sc_track *track, uint32_t after, struct sc_ticket *tickets,
                                  unsigned max);
/* Is there a hold that the reaper ends, or one that still waits for an operation? */
bool sc_track_reaper_has_work(struct sc_track *track);
/* Does a hold that the reaper ends (not one of pinned memory) overlap the interval? */
bool sc_track_is_held(struct sc_track *track, uintptr_t address, size_t size_bytes);
/* Is memory there still registered that the program has unregistered? */
bool sc_track_is_unregistered(struct sc_track *track, uintptr_t address, size_t size_bytes);
/* Is memory there unregistered so, or pinned memory whose free is held? */
bool sc_track_is_given_back(struct sc_track *track, uintptr_t address);
/* Is `address` the start of a block whose free is held? */
bool sc_track_is_freed(struct sc_track *track, uintptr_t address);
/* Is memory there held because a graph names it? */
bool sc_track_holds_for_graph(struct sc_track *track, uintptr_t address);

#endif

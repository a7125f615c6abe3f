/* The tracker's graphs (track/graphs.h), and their launches.
 *
 * Every function takes the tracker's lock for itself, unless its comment says "lock-free"
 * (track/track.h).
 */
#ifndef SC_TRACK_TRACK_GRAPHS_H
#define SC_TRACK_TRACK_GRAPHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/graph_place.h"
#include "track/hazard.h"
#include "track/points.h"

struct sc_graph_author;
struct sc_graph_event;
struct sc_graph_extra;
struct sc_graph_flags;
struct sc_graph_own;
struct sc_graph_race;
struct sc_graph_use;
struct sc_handles;
struct sc_hazard_event;
struct sc_heard_call;
struct sc_heard_launch;
struct sc_heard_node;
struct sc_heard_run;
struct sc_told;
struct sc_track;

void sc_track_graph_add(struct sc_track *track, uintptr_t handle, const struct sc_graph_use *use,
                        const struct sc_graph_extra *extra);
void *sc_track_graph_take_copy(struct sc_track *track, size_t size_bytes, bool for_ever);
void sc_track_graph_add_all(struct sc_track *track, uintptr_t handle, uintptr_t of);
void sc_track_graph_drop_node(struct sc_track *track, uintptr_t handle, uintptr_t node);
void sc_track_graph_enable_node(struct sc_track *track, uintptr_t handle, uintptr_t node,
                                bool enabled);
void sc_track_graph_doubt_node(struct sc_track *track, uintptr_t handle, uintptr_t node,
                               unsigned unsure);
void sc_track_graph_doubt_nodes(struct sc_track *track, uintptr_t handle, struct sc_handles *nodes);
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

/* Drop is for the addresses of one kernel node, or with 0 of all. */
void sc_track_graph_drop_addresses(struct sc_track *track, uintptr_t exec, uintptr_t node);

/* Device memory of the exec besides what its nodes use of it (track/graphs.h). */
void sc_track_graph_leave_out_device(struct sc_track *track, uintptr_t exec);
bool sc_track_graph_own(struct sc_track *track, uintptr_t exec, const struct sc_graph_own *own);
void sc_track_graph_settle_own(struct sc_track *track, uintptr_t exec);
bool sc_track_graph_add_race(struct sc_track *track, uintptr_t exec,
                             const struct sc_graph_race *race);
bool sc_track_graph_next_race(struct sc_track *track, uint32_t exec, struct sc_graph_race *into);

/* A launch of the exec hands out what its nodes allocate: what was done there is over, or the
 * driver puts in order with it what comes later. Memory that is not known, since it was freed
 * behind the launch before or the node was added by hand, is known by the origin from now on.
 * `context`: as of sc_track_device_allocated. */
void sc_track_graph_allocates(struct sc_track *track, uint32_t exec, uint32_t context,
                              uint32_t origin);

/* Who has added the node to the graph (sc_graphs_author). */
struct sc_graph_author sc_track_graph_author(struct sc_track *track, uintptr_t graph,
                                             uintptr_t node, const struct sc_graph_use *use);

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

#endif

/* Launches of graphs, and questions about graphs (track/graphs.h) that concern other parts of the
 * tracker as well.
 *
 * Locks: every function takes the tracker's lock for itself, unless its comment says "lock-free".
 */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   exec: an instantiated graph (CUgraphExec)
 *   guard: page protection of the memory of operations in flight
 *   in flight: issued, and the host does not know yet that it is done
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   origin: the call that made a buffer or a stream, with its stack
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   range: host memory that the driver knows: one allocation or one registration
 *   stage: the part of a graph's nodes that one notifier tells the host of
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_TRACK_GRAPHS_H
#define SC_TRACK_TRACK_GRAPHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"
#include "common/points.h"

struct sc_graph;
struct sc_graph_extra;
struct sc_graph_use;
struct sc_stages;
struct SC_LOCK sc_track;
extern struct sc_track sc_track; /* the process's own */

/* Adds a use (what a node does with one piece of memory) to the graph (sc_graphs_add), with the
 * range around it as the allocation with which it is freed. */
void sc_track_graph_add(struct sc_track *track, uintptr_t handle, const struct sc_graph_use *use,
                        const struct sc_graph_extra *extra) SC_EXCLUDES(*track);

/* Returns true if a node of a graph uses memory in the interval. Lock-free if no such memory is
 * near. */
bool sc_track_graph_names(struct sc_track *track, uintptr_t address, size_t size_bytes,
                          bool unregistered) SC_EXCLUDES(*track);

/* Notes the memory that a launch of the exec (instantiated graph) allocates. Operations in flight
 * at those addresses are forgotten: they are over, or the driver orders later work after them.
 * Blocks that are not known get this origin: they were freed after the launch before, or their node
 * was added by hand. `context`: as for sc_allocations_add. */
void sc_track_note_graph_allocations(struct sc_track *track, uint32_t exec, uint32_t context,
                                     uint32_t origin) SC_EXCLUDES(*track);

/* Find the graph or exec (instantiated graph) of the handle, and its id; NULL and 0: not known.
 * sc_track_graph_extra returns the members that only few uses (of memory by nodes) have. Lock-free;
 * other threads may change what is returned. */
const struct sc_graph *sc_track_graph(struct sc_track *track, uintptr_t handle, uint32_t *id);
const struct sc_graph_extra *sc_track_graph_extra(struct sc_track *track,
                                                  const struct sc_graph_use *use);

/* ---- launches ----
 *
 * The driver begins a launch of an exec when the exec's former launch is complete, on whatever
 * stream that was. So each launch leaves with the exec the point of all work up to it. Launches
 * without work wait for none (docs/driver.md, what counts as queued). */

/* Begins a launch as a call that is work on the stream (sc_track_begin_call). The call also comes
 * after the exec's last launch, and after the events for which its nodes wait. */
void sc_track_begin_launch(struct sc_track *track, uint32_t exec, uint32_t stream,
                           struct sc_order_call *call) SC_EXCLUDES(*track);

/* Sets what the events stand for that nodes of the exec (instantiated graph) record in a launch:
 * the point (work issued so far) of the stream before the launch, and the stages (track/stages.h)
 * that the nodes notify of. If `stages` is broken (numbers of other threads' operations lie between
 * those of a stage), the events stand for the point alone. Releases the point. */
void sc_track_note_launch_records(struct sc_track *track, uint32_t exec, struct sc_point *point,
                                  const struct sc_stages *stages) SC_EXCLUDES(*track);

/* A launch of an exec (instantiated graph) on the stream of its last launch. Runs (joined uses of
 * the exec) that are still in flight there and unchanged are issued again, up to the first one that
 * is not. From that run on the caller issues operations, and then calls sc_graphs_note_launched. */
struct sc_relaunch {
    uint32_t exec; /* id of the graph */
    uint32_t stream;
    const char *api;
    uint32_t stack;
    int32_t thread;
    uint64_t ticks;
    bool guards; /* operations that are issued now are guarded */
    struct sc_unseen_mark unseen_waits;
    struct sc_stages *stages; /* gets the operations' numbers; NULL: no node notifies the host */
    /* results: how many runs were issued again, and their bytes */
    uint32_t done;
    size_t size_bytes;
    /* the place of the launch among the calls on the legacy stream, if it is one of them; else 0 */
    uint64_t place;
};

void sc_track_relaunch(struct sc_track *track, struct sc_relaunch *launch) SC_EXCLUDES(*track);

#endif

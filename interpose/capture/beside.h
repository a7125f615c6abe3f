/* Reports work that a thread issues beside its own capture: work that runs at once, while the graph
 * lacks it (SC305; track/left_out.h has the rule).
 *
 * While a capture is open, the thread that began it notes each of its operations on device memory:
 * those that the capture takes, and those that run at once beside it. When the capture has ended
 * successfully, it is known what the graph lacks. Nothing is reported of a capture that fails. At
 * the end of the capture a report names work beside the capture that has read memory which only the
 * graph's launches will write. Memory that launches read, and that work beside the capture has
 * written, is watched until something writes it, or the graph is launched for the second time
 * (track/frozen.h). Memory that no captured work uses is watched as well if an asynchronous call on
 * the legacy stream wrote it; a report of it is an advisory, since the program may mean it so.
 * Nothing is repaired: program and graph are as without the library.
 *
 * Only calls that come through wrappers are judged, since the allocations among other calls would
 * be missed. A call that comes through no wrapper may have done anything.
 *
 * While sc_beside_needs_calls returns false, which is one load, only changes of graphs and execs
 * have to be noted.
 *
 * Thread-safe. Locks: one of its own, a leaf; none may be held where something is reported. errno
 * is kept. Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   advisory: a hazard that may be meant, for which strict does not fail
 *   beside: of work: issued by the capturing thread during a capture, and run at once
 *   exec: an instantiated graph (CUgraphExec)
 *   frozen: of memory: launches read it as work beside the capture left it
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_CAPTURE_BESIDE_H
#define SC_INTERPOSE_CAPTURE_BESIDE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/driver/call.h"
#include "track/left_out.h"

struct sc_stream_record;

/* How many captures are open, and how many pieces of memory are watched after one. While it is 0,
 * calls need not note what they do. */
extern _Atomic unsigned sc_beside_needs;

static inline bool sc_beside_needs_calls(void)
{
    return sc_unlikely(atomic_load_explicit(&sc_beside_needs, memory_order_relaxed) != 0);
}

/* Of how many graphs and execs it is known what they write (track/graph_writes.h). */
extern _Atomic unsigned sc_beside_graphs;

/* Returns true if changes of graphs and execs have to be noted. */
static inline bool sc_beside_follows_graphs(void)
{
    return sc_beside_needs_calls() ||
           sc_unlikely(atomic_load_explicit(&sc_beside_graphs, memory_order_relaxed) != 0);
}

/* Returns true if a capture is open that the calling thread began. The capture may just have ended
 * without the library having noticed. */
bool sc_beside_is_own(void);

/* Returns true if memory is watched that launches read. */
bool sc_beside_is_watching(void);

/* ---- captures ---- */

/* Notes that the calling thread has begun a capture on the stream, which adds to the graph. `graph`
 * 0: the driver does not say which, and nothing is watched. `has_nodes`: the graph had nodes
 * before. */
void sc_beside_note_begun(const struct sc_stream_record *stream, uintptr_t graph, bool has_nodes);

/* Reports what the graph lacks: the driver has successfully ended the capture that began on the
 * stream. */
void sc_beside_note_ended(const struct sc_stream_record *stream);

/* Forgets the capture that began on the stream, if there is one, which is over; reports nothing. */
void sc_beside_drop_capture(const struct sc_stream_record *stream);

/* ---- what the driver has accepted ---- */

/* One operation that the driver has accepted. */
struct sc_beside_op {
    const struct sc_call *call;
    uintptr_t stream;  /* the stream's handle */
    uint32_t stack;    /* of the call; 0: not taken yet */
    bool names_legacy; /* an asynchronous call on the legacy stream */
    /* the call was made in a private stream, since a capture stood in its way; that is reported
     * already */
    bool is_detour;
    struct sc_left_out_op does;
};

/* Note an operation that a capture has taken into the graph; note one that ran at once, on any
 * thread. */
void sc_beside_note_captured(const struct sc_beside_op *op, uintptr_t graph);
void sc_beside_note_issued(const struct sc_beside_op *op);

/* Notes an allocation of device memory or managed memory. */
void sc_beside_note_allocated(uintptr_t address, size_t size_bytes);

/* Notes that device memory was written at an unknown place: later work in the thread's captures is
 * judged as if it might read there. */
void sc_beside_note_unknown_write(void);

/* Called when a context has ended, and with it the handles of its graphs: forgets all that is known
 * of graphs. */
void sc_beside_forget_graphs(void);

/* ---- graphs, if sc_beside_follows_graphs ---- */

/* Notes that the exec was made from the graph, or updated by it. */
void sc_beside_note_instantiated(uintptr_t graph, uintptr_t exec);

/* Forgets the handle of a graph or exec, which is about to become invalid. */
void sc_beside_forget_handle(uintptr_t handle);

/* Notes that a node was added by hand to a graph: if a capture has added to it as well, it is no
 * longer known what its launches write. */
void sc_beside_note_node_added(uintptr_t graph);

/* Notes that a node was changed or destroyed. It is not known of which graph, so of none is it
 * known any more what its launches read and write. */
void sc_beside_note_node_changed(void);

/* Notes a launch of the exec: reports work beside captures whose result the launch reads. */
void sc_beside_note_launched(uintptr_t exec);

#endif

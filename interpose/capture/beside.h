/* Reports work that a thread issues beside its own capture, so that it runs once and the graph
 * lacks it (SC305; track/left_out.h has the rule).
 *
 * While a capture is open, the thread that began it tells of each operation on device memory: of
 * those that the capture takes, and of those that run at once. What the graph lacks is known when
 * the capture has ended successfully. Of a capture that fails nothing is said. If work beside the
 * capture has read what the graph has still to make, that is reported then. Memory that launches
 * read as such work left it is watched until somebody writes it, or until the graph is launched for
 * the second time (track/frozen.h). Memory is watched as well if no captured work uses it and an
 * asynchronous call on the legacy stream wrote it: a report of that is an advisory, since the
 * program may mean it. Nothing is rerouted: the program and the graph are as without the library.
 *
 * Only calls that come through wrappers are judged, since allocations would be missing otherwise. A
 * call that passes by may have done anything.
 *
 * While sc_beside_needs_calls is false, which is one load, only what becomes of graphs and execs
 * has to be told.
 *
 * Thread-safe. Locks: one of its own, a leaf; none may be held where something is reported. errno
 * is kept. Not for a signal handler. */
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

/* How many captures are open, and how many pieces of memory are watched after one. 0: calls need
 * not tell of what they do. */
extern _Atomic unsigned sc_beside_needs;

static inline bool sc_beside_needs_calls(void)
{
    return sc_unlikely(atomic_load_explicit(&sc_beside_needs, memory_order_relaxed) != 0);
}

/* For how many graphs and execs it is known what they write (track/graph_writes.h). */
extern _Atomic unsigned sc_beside_graphs;

/* Has it to be told what becomes of graphs and execs? */
static inline bool sc_beside_follows_graphs(void)
{
    return sc_beside_needs_calls() ||
           sc_unlikely(atomic_load_explicit(&sc_beside_graphs, memory_order_relaxed) != 0);
}

/* Is a capture open that the calling thread began? The thread may not have learnt yet of one that
 * has just ended. */
bool sc_beside_is_own(void);

/* Is memory watched that launches read? */
bool sc_beside_is_watching(void);

/* ---- captures ---- */

/* The calling thread has begun a capture on the stream, which adds to the graph. `graph` 0: the
 * driver does not say which graph, and nothing is watched. `has_nodes`: the graph had nodes before.
 */
void sc_beside_note_begun(const struct sc_stream_record *stream, uintptr_t graph, bool has_nodes);

/* The driver has successfully ended the capture that began on the stream: reports what the graph
 * lacks. */
void sc_beside_note_ended(const struct sc_stream_record *stream);

/* The capture that began on the stream, if there is one, is over. Nothing is reported. */
void sc_beside_drop_capture(const struct sc_stream_record *stream);

/* ---- what the driver has accepted ---- */

/* One operation that the driver has accepted. */
struct sc_beside_op {
    const struct sc_call *call;
    uintptr_t stream;  /* the stream's handle */
    uint32_t stack;    /* of the call; 0: it is taken when it is needed */
    bool names_legacy; /* an asynchronous call, on the legacy stream */
    bool is_detour;    /* a capture stood in the way of the call; that is reported already */
    struct sc_left_out_op does;
};

/* Tell of an operation that a capture has taken for the graph; and of one that ran at once, on any
 * thread. */
void sc_beside_note_captured(const struct sc_beside_op *op, uintptr_t graph);
void sc_beside_note_issued(const struct sc_beside_op *op);

/* Device memory, managed memory included, was allocated. */
void sc_beside_note_allocated(uintptr_t address, size_t size_bytes);

/* Device memory was written at an unknown place. Later work in the thread's captures is judged as
 * if it might read there. */
void sc_beside_note_unknown_write(void);
/* Contexts are gone, and with them the handles of their graphs: forgets these. */
void sc_beside_forget_graphs(void);

/* ---- graphs, if sc_beside_follows_graphs ---- */

/* The exec was made from the graph, or updated by it. */
void sc_beside_note_instantiated(uintptr_t graph, uintptr_t exec);

/* The handle of a graph or exec is about to become void. */
void sc_beside_forget_handle(uintptr_t handle);

/* A node was added by hand to a graph that captures may add to as well: what launches of it write
 * is not known. */
void sc_beside_note_node_added(uintptr_t graph);

/* A node of some graph was changed or destroyed. */
void sc_beside_note_node_changed(void);

/* The exec was launched: reports work beside captures whose result the launch has read. */
void sc_beside_note_launched(uintptr_t exec);

#endif

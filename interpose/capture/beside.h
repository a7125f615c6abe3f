/* What a thread issues beside its own capture, which the graph lacks (SC305; track/left_out.h has
 * the rule).
 *
 * While a capture is open, the thread that began it tells of each operation on device memory: of
 * those that the capture takes, and of those that ran at once. What the graph lacks is known when
 * the capture has ended well; of one that failed nothing is said. Work that has read what the graph
 * has still to make is reported then. Memory that launches read as that work has left it is watched
 * until somebody writes it, or the graph is launched for the second time (track/frozen.h). So is
 * memory that no captured work uses, and that an asynchronous call on the legacy stream wrote: what
 * is said of that is an advisory, since the program may mean what it does. Nothing is rerouted:
 * neither the program nor the graph is other than without the library.
 *
 * Only calls that come through wrappers are judged: allocations would be missing among others. What
 * passes by may have done anything.
 *
 * Unless sc_beside_is_asked, which is one load, nothing of this has to be told, but what becomes of
 * graphs and execs.
 *
 * Thread-safe. Locks: one of its own, a leaf; none may be held where something is reported. errno
 * is kept. Not for a signal handler.
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

/* Captures that are open, and memory that is watched. */
extern _Atomic unsigned sc_beside_concerns;

static inline bool sc_beside_is_asked(void)
{
    return sc_unlikely(atomic_load_explicit(&sc_beside_concerns, memory_order_relaxed) != 0);
}

/* Graphs and execs of which it is known what they write (track/graph_writes.h). */
extern _Atomic unsigned sc_beside_graphs;

/* Has what becomes of graphs and execs to be told? */
static inline bool sc_beside_follows_graphs(void)
{
    return sc_beside_is_asked() ||
           sc_unlikely(atomic_load_explicit(&sc_beside_graphs, memory_order_relaxed) != 0);
}

/* Is a capture open that the calling thread began, as far as it knows? */
bool sc_beside_is_own(void);

/* Is memory watched? */
bool sc_beside_is_watching(void);

/* ---- captures ---- */

/* The calling thread has begun a capture on the stream, which adds to the graph; 0: the driver does
 * not say to which, and nothing is watched. `has_nodes`: the graph may do something already. */
void sc_beside_began(const struct sc_stream_record *stream, uintptr_t graph, bool has_nodes);

/* The driver has ended the capture that began on the stream, well: what the graph lacks is
 * reported. */
void sc_beside_ended(const struct sc_stream_record *stream);

/* The capture that began on the stream is over, if there is one. Nothing is reported. */
void sc_beside_forget(const struct sc_stream_record *stream);

/* ---- what the driver has accepted ---- */

struct sc_beside_op {
    const struct sc_call *call;
    uintptr_t stream;  /* its handle */
    uint32_t stack;    /* 0: it is taken where it is wanted */
    bool names_legacy; /* an asynchronous call, on the legacy stream */
    bool is_detour;    /* a capture stood in the way, which is reported already */
    struct sc_left_out_op does;
};

/* A capture has taken the operation, for the graph; or it ran at once, on whatever thread. */
void sc_beside_captured(const struct sc_beside_op *op, uintptr_t graph);
void sc_beside_issued(const struct sc_beside_op *op);

/* Device memory, managed memory included, was allocated. */
void sc_beside_allocated(uintptr_t address, size_t size_bytes);

/* Device memory was written, and nobody knows where. What follows in the thread's captures is
 * judged as if it might read that. */
void sc_beside_unknown(void);
/* The same: contexts are gone, and handles with them. */
void sc_beside_contexts_gone(void);

/* ---- graphs, if sc_beside_follows_graphs ---- */

/* The exec is the graph's from now on: it was made, or updated. */
void sc_beside_instantiated(uintptr_t graph, uintptr_t exec);

/* The handle of a graph or exec is about to name nothing. */
void sc_beside_handle_gone(uintptr_t handle);

/* A node was added to the graph by hand, which captures may add to. */
void sc_beside_node_added(uintptr_t graph);

/* A node of some graph was changed or destroyed. */
void sc_beside_node_changed(void);

/* The exec was launched. What that shows is reported. */
void sc_beside_graph_launched(uintptr_t exec);

#endif

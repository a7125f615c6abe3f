/* What the wrappers share that destroy graphs and execs (instantiated graphs), or change execs.
 * graph_calls.c has those that build and destroy graphs, graph_execs.c those that make and change
 * execs, graph_launch.c those that launch them.
 *
 * Locks: takes the tracker's. Thread-safe, not signal-safe. */

/* Terms (docs/glossary.md):
 *   exec: an instantiated graph (CUgraphExec)
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_CALLS_GRAPH_CALLS_H
#define SC_INTERPOSE_CALLS_GRAPH_CALLS_H

#include <stdint.h>

#include "interpose/driver/driver.h"

/* Notes that the exec is about to be destroyed or changed. User objects of the exec then end when
 * its last launch is done, and their destructors may tell the host that it is done. The library
 * does not see that, so this notes a signal. */
void sc_graph_calls_note_release(const void *exec);

/* Called around the driver's call that destroys a graph or an exec. Before it,
 * sc_graph_calls_begin_destroy detaches the tracker's record from the handle and returns its id; 0:
 * nothing is known. After it, sc_graph_calls_end_destroy removes the record, or attaches it again
 * if the driver has refused, and returns `result`. */
uint32_t sc_graph_calls_begin_destroy(const void *handle);
CUresult sc_graph_calls_end_destroy(uint32_t known, CUresult result);

#endif

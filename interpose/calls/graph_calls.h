/* What the wrappers of graph calls share, for graphs that are captured, built by hand, cloned or
 * destroyed. What their nodes name is noted as the nodes come (node_uses.h). graph_execs.c makes
 * execs from graphs, and graph_launch.c launches execs.
 *
 * Locks: none of its own; the tracker's inside. Thread-safe, not signal-safe. */
#ifndef SC_INTERPOSE_CALLS_GRAPH_CALLS_H
#define SC_INTERPOSE_CALLS_GRAPH_CALLS_H

#include <stdint.h>

#include "interpose/driver/driver.h"

/* Called before the exec is destroyed or changed. The exec's user objects may then end when its
 * last launch is done, and their destructors may tell the host so, unseen: notes a signal. */
void sc_graph_calls_note_release(const void *exec);

/* Around the driver's call that destroys a graph or an exec. sc_graph_calls_begin_destroy detaches
 * what the tracker knows of the handle, and returns its id there; 0: nothing is known.
 * sc_graph_calls_end_destroy removes what was known, or attaches it again if the driver has
 * refused. Returns `result`. */
uint32_t sc_graph_calls_begin_destroy(const void *handle);
CUresult sc_graph_calls_end_destroy(uint32_t known, CUresult result);

#endif

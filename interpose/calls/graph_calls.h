/* Graphs: captured, built by hand, cloned, destroyed. What their nodes name is noted as the nodes
 * come (node_uses.h). graph_execs.c makes execs from graphs, and graph_launch.c launches execs.
 *
 * Locks: none of its own; the tracker's inside. Thread-safe, not signal-safe.
 */
#ifndef SC_INTERPOSE_CALLS_GRAPH_CALLS_H
#define SC_INTERPOSE_CALLS_GRAPH_CALLS_H

#include <stdint.h>

#include "interpose/driver/driver.h"

/* Before the driver's call that destroys or changes the exec: the exec's user objects may end when
 * its last launch is done. */
void sc_graph_calls_letting_go(const void *exec);

/* Around the driver's call that destroys a graph or an exec. The first takes away what is known of
 * it and returns the tracker's id of that, 0: nothing is known. The second attaches that again if
 * the driver has refused. */
uint32_t sc_graph_calls_destroying(const void *handle);
CUresult sc_graph_calls_destroyed(uint32_t known, CUresult result);

#endif

/* Graphs: captured, built by hand, cloned, destroyed. What their nodes name is noted as they come
 * (node_uses.h); execs are made from them (graph_execs.c) and launched (graph_launch.c).
 *
 * Locks: none of its own; the tracker's inside.
 */
#ifndef SC_INTERPOSE_CALLS_GRAPH_CALLS_H
#define SC_INTERPOSE_CALLS_GRAPH_CALLS_H

#include <stdint.h>

#include "interpose/driver/driver.h"

/* Before the driver's call that destroys or changes the exec: the user objects that it refers to
 * may end when its last launch is done. */
void sc_graph_calls_letting_go(const void *exec);

/* Around the driver's call that destroys a graph or an exec: what is known of it, 0: nothing, which
 * is attached again if the driver refuses. */
uint32_t sc_graph_calls_destroying(const void *handle);
CUresult sc_graph_calls_destroyed(uint32_t known, CUresult result);

#endif

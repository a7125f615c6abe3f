/* Graphs: captured, built by hand, cloned, destroyed. What their nodes name is noted as they come
 * (uses.h); execs are made from them (execs.c) and launched (launches.c).
 *
 * Locks: none of its own; the tracker's inside.
 */
#ifndef SC_INTERPOSE_GRAPHS_H
#define SC_INTERPOSE_GRAPHS_H

#include "interpose/streams.h"

/* Before the driver's call that destroys or changes the exec: the user objects that it refers to
 * may end when its last launch is done. */
void sc_graphs_letting_go(const void *exec);

/* Around the driver's call that destroys a graph or an exec: what is known of it, 0: nothing, which
 * is attached again if the driver refuses. */
uint32_t sc_graphs_destroying(const void *handle);
CUresult sc_graphs_destroyed(uint32_t known, CUresult result);

#endif

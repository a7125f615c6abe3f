/* Graphs: captured, built by hand, cloned, destroyed. What their nodes name is noted as they come
 * (uses.h); execs are made from them (execs.c) and launched (launches.c).
 *
 * Locks: none of its own; the tracker's inside.
 */
#ifndef SC_INTERPOSE_GRAPHS_H
#define SC_INTERPOSE_GRAPHS_H

#include "interpose/streams.h"

/* The graph that a capture of the stream adds to; 0 if the driver does not say. */
uintptr_t sc_graphs_captured_into(struct sc_stream_record *stream);

/* There is no such graph any more: a capture that failed leaves none; 0 is none. Calls no driver,
 * and takes the tracker's lock and the reaper's only. */
void sc_graphs_forget(uintptr_t graph);

/* Before the driver's call that destroys or changes the exec: the user objects that it refers to
 * may end when its last launch is done. */
void sc_graphs_letting_go(const void *exec);

/* Around the driver's call that destroys a graph or an exec: what is known of it, 0: nothing, which
 * is attached again if the driver refuses. */
uint32_t sc_graphs_destroying(const void *handle);
CUresult sc_graphs_destroyed(uint32_t known, CUresult result);

#endif

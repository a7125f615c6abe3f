/* Lets launches of a graph read copies of sources that lie on a stack, which may be gone by the
 * launch.
 *
 * A graph keeps a copy of a source on a stack. An exec is made from nodes that read the copy. A
 * launch brings the copy up to date for as long as the frame of the source lives.
 *
 * Locks: the tracker's inside. Not for a signal handler: the driver is called. */
#ifndef SC_INTERPOSE_GRAPH_STACK_SOURCES_H
#define SC_INTERPOSE_GRAPH_STACK_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

enum sc_direction;
struct sc_graph_extra;
struct sc_graph_use;
struct sc_running;

/* A node of the program's graph that is pointed at a copy while the exec is made. */
struct sc_redirected {
    CUgraphNode node;
    CUgraphNode top;      /* the node, or the outermost node around it */
    CUDA_MEMCPY3D before; /* the node's parameters, as the program gave them */
};

struct sc_stack_sources {
    struct sc_redirected *list; /* NULL: the graph names no stack */
    size_t count, capacity;
};

/* Around the call that makes or updates an exec. Begin points the nodes of the graph at the copies.
 * Undo points them back, so that the program's graph stays as it was. The list is valid until end.
 * Needs: nobody changes the graph. */
struct sc_stack_sources sc_stack_sources_begin(CUgraph graph);
void sc_stack_sources_undo(const struct sc_stack_sources *redirects);
void sc_stack_sources_end(struct sc_stack_sources *redirects);

/* Has one side of the copy use the memory `saved`: the source for SC_H2D, else the destination. */
void sc_stack_sources_redirect(CUDA_MEMCPY3D *copy, enum sc_direction direction, void *saved);

/* The place on the calling thread's stack from which uses are looked at. */
struct sc_running sc_stack_sources_here(void);

/* Does the function still run whose local the use lies in (interpose/base/locals.h)? */
bool sc_stack_sources_frame_lives(const struct sc_graph_use *use,
                                  const struct sc_graph_extra *extra, struct sc_running *running);

/* As sc_stack_sources_frame_lives, and brings the copy of a source up to date if the function still
 * runs. */
bool sc_stack_sources_refresh(const struct sc_graph_use *use, const struct sc_graph_extra *extra,
                              struct sc_running *running);

#endif

/* Lets launches of a graph read copies of sources that lie on a stack, since the stack's frame may
 * be gone by the launch.
 *
 * A graph keeps a copy of each such source, and its execs are made from nodes that read the copy. A
 * launch updates the copy as long as the function of the frame runs.
 *
 * Locks: takes the tracker's. Not for a signal handler: the driver is called. */

/* Terms (docs/glossary.md):
 *   exec: an instantiated graph (CUgraphExec)
 *   source: the memory that a copy reads
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_GRAPH_STACK_SOURCES_H
#define SC_INTERPOSE_GRAPH_STACK_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

enum sc_direction;
struct sc_graph_extra;
struct sc_graph_use;
struct sc_running;

/* A node of the program's graph that reads a copy while the exec is made. */
struct sc_redirected {
    CUgraphNode node;
    CUgraphNode top;      /* the node itself, or the outermost node around it */
    CUDA_MEMCPY3D before; /* the node's parameters, as the program gave them */
};

/* The nodes of the program's graph that read copies of stacks, around the call that makes an exec.
 */
struct sc_stack_sources {
    struct sc_redirected *list; /* NULL: the graph names no stack */
    size_t count, capacity;
};

/* Called around the call that makes or updates an exec. Begin points nodes that read a stack at the
 * library's copies of the bytes, so that the exec's nodes read those. Undo gives the nodes their
 * own parameters again, since the graph is the program's. End frees the list. Pre: no thread
 * changes the graph. */
struct sc_stack_sources sc_stack_sources_begin(CUgraph graph);
void sc_stack_sources_undo(const struct sc_stack_sources *redirects);
void sc_stack_sources_end(struct sc_stack_sources *redirects);

/* Makes one side of a copy use `saved`, the library's copy of its bytes: the source if the
 * direction is SC_H2D, else the destination. */
void sc_stack_sources_redirect(CUDA_MEMCPY3D *copy, enum sc_direction direction, void *saved);

/* Returns where the calling thread's stack is now, for the functions below: they tell by that
 * whether the function of a local variable still runs. */
struct sc_running sc_stack_sources_here(void);

/* Returns true if the function still runs in whose local variable the use's bytes lie, as far as is
 * known (interpose/base/locals.h). A launch after that would read a stack that has other
 * contents. */
bool sc_stack_sources_frame_lives(const struct sc_graph_use *use,
                                  const struct sc_graph_extra *extra, struct sc_running *running);

/* Called before a launch: if that function still runs, brings the copy that the node reads up to
 * date from the variable, and returns true. */
bool sc_stack_sources_refresh(const struct sc_graph_use *use, const struct sc_graph_extra *extra,
                              struct sc_running *running);

#endif

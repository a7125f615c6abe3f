/* Nodes that use a stack. An exec is made from nodes that read a copy instead, which the graph
 * keeps; launches bring the copy up to date for as long as the frame lives.
 *
 * Locks: the tracker's inside. Calls the driver.
 */
#ifndef SC_INTERPOSE_GRAPH_STACK_SOURCES_H
#define SC_INTERPOSE_GRAPH_STACK_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"
#include "track/hazard.h"

struct sc_graph_use;
struct sc_graph_extra;

struct sc_redirected {
    CUgraphNode node;
    CUgraphNode top; /* itself, or the child graph's node that it is part of */
    CUDA_MEMCPY3D before;
};

struct sc_stack_sources {
    struct sc_redirected *list; /* NULL: the graph names no stack */
    size_t count, capacity;
};

/* Around the call that makes or updates an exec: points the graph's nodes at the copies, and back
 * again, so that the program's graph stays as it was. The list is there until the end. */
struct sc_stack_sources sc_stack_sources_begin(CUgraph graph);
void sc_stack_sources_undo(const struct sc_stack_sources *redirects);
void sc_stack_sources_end(struct sc_stack_sources *redirects);

/* Makes one side of the copy use `saved`. */
void sc_stack_sources_point(CUDA_MEMCPY3D *copy, enum sc_direction direction, void *saved);

/* Does the frame that a use on a stack lies in still run? Told by its return address. */
bool sc_stack_sources_frame_lives(const struct sc_graph_use *use,
                                  const struct sc_graph_extra *extra);

/* The same; and if so, the copy of a source is brought up to date. */
bool sc_stack_sources_refresh(const struct sc_graph_use *use, const struct sc_graph_extra *extra);

#endif

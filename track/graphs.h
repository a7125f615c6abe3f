/* Graphs and execs, and the host memory that their nodes name.
 *
 * A graph keeps raw addresses. Memory that one of them names must not go back to where it came from
 * while a graph or an exec could still be launched with it, so frees look here (sc_graphs_name) and
 * are noted here (sc_graphs_note_freed): whoever launches an exec that names freed memory is told.
 * Graphs and execs are alike here: a handle with uses.
 *
 * Locks: every function needs the owner's lock, except sc_graphs_may_name, sc_graphs_find and
 * sc_graphs_at (lock-free; what they return is good for as long as the program may use the handle).
 */
#ifndef SC_TRACK_GRAPHS_H
#define SC_TRACK_GRAPHS_H

#include "track/grid.h"
#include "track/handles.h"
#include "track/hazard.h"
#include "track/inflight.h"

/* What one node does with host memory. */
struct sc_graph_use {
    uintptr_t node; /* 0: not known */
    struct sc_shape shape;
    enum sc_direction direction;
    enum sc_buffer_kind kind;
    uint32_t range;             /* the tracker's, 0: none */
    struct sc_hazard_copy from; /* the call that captured, added or changed the node */
    bool disabled;
    bool unjudged; /* nodes behind it tell the host of its end, which is not seen */
    bool freed;
    struct sc_hazard_event freed_by;
    /* On a stack: where the frame's return address is, and what it was; 0 where not known. */
    uintptr_t return_slot, return_address;
    void *saved;     /* a copy of what is on a stack, or NULL */
    bool redirected; /* the node of the exec uses the copy instead */
};

struct sc_graph_flags {
    bool disabled, unjudged;
};

struct sc_graph_uses {
    struct sc_graph_use *list;
    uint32_t count, capacity;
};

struct sc_graph {
    uintptr_t handle;
    struct sc_graph_uses uses;
    struct sc_graph_uses merged; /* neighbours as one, for the launch */
    bool is_merged;
    uint32_t first_interval;
    uint32_t last_found; /* where the next look-up begins */
    bool has_freed, has_stack;
    bool waits; /* it copies into pageable memory, so that a launch returns when it is complete */
};

struct sc_graph_interval {
    struct sc_grid_node node;
    uint32_t graph;
    uint32_t next; /* of the same graph */
};

struct sc_graphs {
    struct sc_pool pool, intervals;
    struct sc_grid grid;
    struct sc_handles by_handle;
    struct sc_arena *arena;
};

int sc_graphs_init(struct sc_graphs *graphs, struct sc_arena *arena); /* 0 or -ENOMEM */
void sc_graphs_destroy(struct sc_graphs *graphs);

/* The graph of the handle; 0 if it names no host memory. */
uint32_t sc_graphs_find(struct sc_graphs *graphs, uintptr_t handle);

static inline struct sc_graph *sc_graphs_at(struct sc_graphs *graphs, uint32_t graph)
{
    return sc_pool_at(&graphs->pool, graph);
}

/* One more use; the graph is made known if it is not. False: no memory. */
bool sc_graphs_add(struct sc_graphs *graphs, uintptr_t handle, const struct sc_graph_use *use);

/* All uses of one more of another: a clone, a child. */
void sc_graphs_add_all(struct sc_graphs *graphs, uintptr_t handle, uintptr_t of);

/* The uses of a node are gone; with node 0, all. */
void sc_graphs_drop_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

void sc_graphs_enable_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                           bool enabled);

/* Of a use of the node. */
struct sc_graph_flags sc_graphs_flags(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* The node uses the copies instead of a stack. */
void sc_graphs_redirect_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

void sc_graphs_unjudge_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* The graph is destroyed. */
void sc_graphs_remove(struct sc_graphs *graphs, uintptr_t handle);

/* Uses are complete: puts together what the launch has to look at. Plain uses of neighbouring bytes
 * of one range in the same direction become one. */
void sc_graphs_merge(struct sc_graphs *graphs, uintptr_t handle);

/* A use of the same bytes in the same direction, as the graph that an exec is made from has it, or
 * NULL. */
const struct sc_graph_use *sc_graphs_same_use(struct sc_graphs *graphs, uintptr_t handle,
                                              const struct sc_graph_use *use);

/* The handle of the graph that knows the node, or 0; execs do not count. Looks at all. */
uintptr_t sc_graphs_of_node(struct sc_graphs *graphs, uintptr_t node);

/* Does any graph name memory in the interval? The first: false only if not. */
static inline bool sc_graphs_may_name(struct sc_graphs *graphs, uintptr_t address,
                                      size_t size_bytes)
{
    return sc_grid_may_overlap(&graphs->grid, address, size_bytes);
}
bool sc_graphs_name(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes);

/* The program has registered the interval again: what was unregistered there is not gone. */
void sc_graphs_note_registered(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes);

/* The program has freed the interval. */
void sc_graphs_note_freed(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes,
                          const struct sc_hazard_event *by);

#endif

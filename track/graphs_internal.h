/* What the files that make up the graphs share (graphs.c, graph_nodes.c, graph_links.c,
 * graph_runs.c, graph_frees.c, graph_bodies.c, graph_device.c, execs.c), and their owner with them
 * (tracker.h). */
#ifndef SC_TRACK_GRAPHS_INTERNAL_H
#define SC_TRACK_GRAPHS_INTERNAL_H

#include "common/handles.h"
#include "common/pool.h"
#include "track/graph_records.h"
#include "track/graphs.h"
#include "track/grid.h"

/* One for each place in a list of uses. Uses are named by their index + 1; 0: none. */
struct sc_graph_link {
    uint32_t hashed_first; /* of the uses whose node has the hash of this place */
    uint32_t hashed_next;  /* the next use whose node has the same hash */
    uint32_t interval_previous;
};

struct sc_graph_interval {
    struct sc_grid_node node;
    uint32_t graph : 31;
    bool heap : 1;           /* the grid that it is in */
    uint32_t next, previous; /* of the same graph */
    uint32_t first_use;      /* its index + 1 */
};

struct sc_graphs {
    struct sc_pool pool, intervals, extras;
    struct sc_grid grid;      /* of memory that only the driver frees */
    struct sc_grid heap_grid; /* of memory that free() or munmap() could take away */
    struct sc_handles by_handle;
    struct sc_handles by_node; /* nodes of graphs that are no execs -> handle */
    struct sc_handles copies;  /* addresses of copies */
    struct sc_order *order;
    _Atomic uint32_t orphan_count;
};

/* Lock-free, as are the graph's fields for as long as the program may use the handle. */
static inline struct sc_graph *sc_graphs_at(struct sc_graphs *graphs, uint32_t graph)
{
    return sc_pool_at(&graphs->pool, graph);
}

/* False only if no graph names host memory in the interval. Lock-free. */
static inline bool sc_graphs_may_name(struct sc_graphs *graphs, uintptr_t address,
                                      size_t size_bytes)
{
    return sc_grid_may_overlap(&graphs->grid, address, size_bytes) ||
           sc_grid_may_overlap(&graphs->heap_grid, address, size_bytes);
}

/* Append returns the new use; NULL: there is no memory. Give gives the memory of the list back;
 * what the uses have as extras stays. */
struct sc_graph_use *sc_graph_uses_append(struct sc_graphs *graphs, struct sc_graph_uses *uses,
                                          const struct sc_graph_use *use);
void sc_graph_uses_give(struct sc_graphs *graphs, struct sc_graph_uses *uses);

/* The first use of the node, and the next one; 0: there is none. Node 0 has none. A change of a
 * node costs what the node has: a graph of many uses gets links when its nodes are looked for again
 * and again. */
uint32_t sc_graph_first_of(struct sc_graphs *graphs, struct sc_graph *graph, uintptr_t node);
uint32_t sc_graph_next_of(const struct sc_graph *graph, uint32_t use);

/* A use is named in the links, or no longer. The graph has links. */
void sc_graph_link_node(struct sc_graph *graph, uint32_t use);
void sc_graph_unlink_node(struct sc_graph *graph, uint32_t use);

/* A use lies behind its interval, or no longer. */
void sc_graph_link_interval(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t use);
void sc_graph_unlink_interval(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t use);

/* Before the list is given back or made larger. */
void sc_graph_links_give(struct sc_graphs *graphs, struct sc_graph *graph);

/* Leaves a hole. */
void sc_graphs_drop_use(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t use);

/* What few uses have, made if the use has none of it. NULL: there is no memory. */
struct sc_graph_extra *sc_graphs_make_extra(struct sc_graphs *graphs, struct sc_graph_use *use);

/* Counts the use for what its graph has of its kind; `one` is 1, or -1 where the use is counted no
 * more. */
void sc_graph_count_use(struct sc_graph *graph, const struct sc_graph_use *use, int one);

void sc_graph_enable_use(struct sc_graph *graph, struct sc_graph_use *use, bool enabled);

/* What the flags of a node have of its use: of the first one of either space. `seen` is 0 at first.
 */
void sc_graph_take_flags(struct sc_graph_flags *flags, unsigned *seen,
                         const struct sc_graph_use *use);

/* Is the use to be added? Of device memory. */
bool sc_graph_takes_device(const struct sc_graph *graph, const struct sc_graph_use *use);

/* The races of the node are dropped, or with 0 of all. */
void sc_graph_drop_races(struct sc_graph *graph, uintptr_t node);
void sc_graph_give_device(struct sc_graphs *graphs, struct sc_graph *graph);

/* Up to which step the node tells. */
uint8_t sc_graph_told_by(const struct sc_graph *graph, uintptr_t node);

/* Drops the events and races of the node; or with 0 all that is known of nodes but their uses. The
 * second one drops only events, of what is within an inner node. */
void sc_graph_drop_events(struct sc_graph *graph, uintptr_t node);
void sc_graph_drop_inner_events(struct sc_graph *graph, uintptr_t node, uintptr_t inner);

/* The names of inner nodes are forgotten. */
void sc_graph_forget_inner(struct sc_graph *graph);

/* Is it the other node, or one within it? */
bool sc_graph_is_within(struct sc_graph *graph, uintptr_t node, uintptr_t of);

/* The node is enabled, or disabled, if it is an inner one. */
void sc_graph_enable_inner(struct sc_graphs *graphs, struct sc_graph *graph, uintptr_t node,
                           bool enabled);

/* Gives back what graph_nodes.c keeps. */
void sc_graph_give_nodes(struct sc_graphs *graphs, struct sc_graph *graph);

/* The runs of an exec are to be made again. */
static inline void sc_graph_note_stale(struct sc_graph *graph)
{
    graph->exec.is_stale = graph->is_exec;
}

/* The driver is not asked: the node's own graph, and with it the node, may be gone. */
static inline bool sc_graph_is_disabled(struct sc_graph *graph, uintptr_t node)
{
    return graph->exec.disables && node && sc_handles_get(&graph->exec.disabled, node);
}

/* Those reasons in a node's flags that concern the use's space. */
static inline unsigned sc_graph_unsure_of(const struct sc_graph_use *use, unsigned unsure)
{
    return (sc_graph_is_of_device(use) ? unsure >> SC_UNSURE_OF_DEVICE : unsure) & SC_UNSURE_ALL;
}

static inline uintptr_t sc_graph_use_end(const struct sc_graph_use *use)
{
    return use->shape.address + sc_shape_hull_bytes(&use->shape);
}

static inline struct sc_graph_use *sc_graph_use_at(const struct sc_graph *graph, uint32_t use)
{
    return &graph->uses.list[use - 1];
}

static inline struct sc_graph_interval *sc_graphs_interval_at(struct sc_graphs *graphs, uint32_t id)
{
    return sc_pool_at(&graphs->intervals, id);
}

static inline bool sc_graph_uses_alike(const struct sc_graph_use *a, const struct sc_graph_use *b)
{
    return a->shape.address == b->shape.address && a->direction == b->direction &&
           sc_graph_is_of_device(a) == sc_graph_is_of_device(b) &&
           a->reads_device == b->reads_device &&
           sc_shape_hull_bytes(&a->shape) == sc_shape_hull_bytes(&b->shape);
}

#endif

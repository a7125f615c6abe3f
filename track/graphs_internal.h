/* What the files that make up the graphs share (graphs.c, graph_nodes.c, graph_links.c,
 * graph_runs.c, graph_frees.c, graph_bodies.c, graph_device.c, execs.c), and the tracker that owns
 * the graphs (tracker.h). */
#ifndef SC_TRACK_GRAPHS_INTERNAL_H
#define SC_TRACK_GRAPHS_INTERNAL_H

#include "common/handles.h"
#include "common/pool.h"
#include "track/graph_records.h"
#include "track/graphs.h"
#include "track/grid.h"

/* Links of one use in two lists: the hash chain of uses by their nodes, and the uses of its
 * interval. There is a record for each place in the list of uses. A use is named by its index + 1;
 * 0: none. */
struct sc_graph_link {
    uint32_t hashed_first; /* first use of those whose node hashes to this place */
    uint32_t hashed_next;  /* the next use whose node has the same hash */
    uint32_t interval_previous;
};

/* A piece of host memory, mostly an allocation, that one graph uses. The grid finds intervals, and
 * an interval has the graph's uses there. */
struct sc_graph_interval {
    struct sc_grid_node node;
    uint32_t graph : 31;
    bool heap : 1;           /* it is in heap_grid */
    uint32_t next, previous; /* of the same graph */
    uint32_t first_use;      /* its index + 1 */
};

struct sc_graphs {
    struct sc_pool pool, intervals, extras;
    struct sc_grid grid;      /* intervals of memory that only the driver frees */
    struct sc_grid heap_grid; /* intervals of memory that free() or munmap() could take away */
    struct sc_handles by_handle;
    struct sc_handles by_node; /* nodes of graphs that are no execs -> handle of the graph */
    struct sc_handles copies;  /* addresses of copies */
    struct sc_order *order;
    _Atomic uint32_t orphan_count;
};

/* The record of the graph with this id. Lock-free: it may be read without the lock as long as the
 * program may use the handle. */
static inline struct sc_graph *sc_graphs_at(struct sc_graphs *graphs, uint32_t graph)
{
    return sc_pool_at(&graphs->pool, graph);
}

/* May a graph name host memory in the interval? False only if none does. Lock-free. */
static inline bool sc_graphs_may_name(struct sc_graphs *graphs, uintptr_t address,
                                      size_t size_bytes)
{
    return sc_grid_may_overlap(&graphs->grid, address, size_bytes) ||
           sc_grid_may_overlap(&graphs->heap_grid, address, size_bytes);
}

/* Appends a copy of the use to the list and returns it; NULL: no memory. */
struct sc_graph_use *sc_graph_uses_append(struct sc_graphs *graphs, struct sc_graph_uses *uses,
                                          const struct sc_graph_use *use);
/* Gives the memory of the list back. The extras of the uses stay. */
void sc_graph_uses_free(struct sc_graphs *graphs, struct sc_graph_uses *uses);

/* Walk over the uses of one node: its first use, and the next one of the same node; 0: there is
 * none. Node 0 has none. A graph with many uses gets hash links when its nodes are asked for again
 * and again, so that a walk costs only what the node has. */
uint32_t sc_graph_first_of(struct sc_graphs *graphs, struct sc_graph *graph, uintptr_t node);
uint32_t sc_graph_next_of(const struct sc_graph *graph, uint32_t use);

/* Puts the use into the hash chain of its node, or takes it out. The graph has links. */
void sc_graph_link_node(struct sc_graph *graph, uint32_t use);
void sc_graph_unlink_node(struct sc_graph *graph, uint32_t use);

/* Puts the use into the list of its interval, or takes it out. */
void sc_graph_link_interval(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t use);
void sc_graph_unlink_interval(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t use);

/* Frees the graph's links, which are made for the present list of uses: before that list is freed
 * or made larger. */
void sc_graph_links_free(struct sc_graphs *graphs, struct sc_graph *graph);

/* Drops the use, and leaves a hole in the list. */
void sc_graphs_drop_use(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t use);

/* The use's struct sc_graph_extra, made if it has none. NULL: no memory. */
struct sc_graph_extra *sc_graphs_make_extra(struct sc_graphs *graphs, struct sc_graph_use *use);

/* Adds `one`, which is 1 or -1, to the graph's counts of uses of this kind. */
void sc_graph_count_use(struct sc_graph *graph, const struct sc_graph_use *use, int one);

/* Enables or disables the use, and counts it accordingly. */
void sc_graph_enable_use(struct sc_graph *graph, struct sc_graph_use *use, bool enabled);

/* Adds to the node's flags what the use contributes. Only the first use of each space (host,
 * device) counts. `seen` has a bit for each space met so far, and is 0 at first. Kernels' addresses
 * contribute nothing. */
void sc_graph_add_flags(struct sc_graph_flags *flags, unsigned *seen,
                        const struct sc_graph_use *use);

/* May the graph be given this use of device memory? */
bool sc_graph_takes_device(const struct sc_graph *graph, const struct sc_graph_use *use);

/* Drops the races of the node, or with node 0 all. */
void sc_graph_drop_races(struct sc_graph *graph, uintptr_t node);
/* Frees what graph_device.c keeps. */
void sc_graph_free_device(struct sc_graphs *graphs, struct sc_graph *graph);

/* The step up to which the node tells; 0: it tells of nothing. */
uint8_t sc_graph_notified_stage(const struct sc_graph *graph, uintptr_t node);

/* Drops the events and races of the node; of node 0, all that is known of nodes except their
 * uses. */
void sc_graph_drop_events(struct sc_graph *graph, uintptr_t node);
/* Drops those events of the node that come from nodes within `inner`. */
void sc_graph_drop_inner_events(struct sc_graph *graph, uintptr_t node, uintptr_t inner);

/* Forgets which inner nodes there are. */
void sc_graph_forget_inner(struct sc_graph *graph);

/* Is `node` the node `of`, or within it? */
bool sc_graph_is_within(struct sc_graph *graph, uintptr_t node, uintptr_t of);

/* Enables or disables the uses of the node, if it is an inner one. */
void sc_graph_enable_inner(struct sc_graphs *graphs, struct sc_graph *graph, uintptr_t node,
                           bool enabled);

/* Frees what graph_nodes.c keeps. */
void sc_graph_free_nodes(struct sc_graphs *graphs, struct sc_graph *graph);

/* If the graph is an exec: its runs are to be made anew. */
static inline void sc_graph_note_stale(struct sc_graph *graph)
{
    graph->exec.is_stale = graph->is_exec;
}

/* Was the node of the exec disabled? The driver is not asked, since the node's own graph, and with
 * it the node, may be gone. */
static inline bool sc_graph_is_disabled(struct sc_graph *graph, uintptr_t node)
{
    return graph->exec.disables && node && sc_handles_get(&graph->exec.disabled, node);
}

/* Those of the reasons `unsure`, out of a node's flags, that concern the use's kind of memory (host
 * or device). */
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

/* Do the uses have the same bytes, direction and space? */
static inline bool sc_graph_uses_alike(const struct sc_graph_use *a, const struct sc_graph_use *b)
{
    return a->shape.address == b->shape.address && a->direction == b->direction &&
           sc_graph_is_of_device(a) == sc_graph_is_of_device(b) &&
           a->reads_device == b->reads_device &&
           sc_shape_hull_bytes(&a->shape) == sc_shape_hull_bytes(&b->shape);
}

#endif

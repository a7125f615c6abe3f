/* What the files that make up the graphs share (graphs.c, graph_nodes.c, graph_links.c,
 * graph_runs.c, graph_frees.c, graph_bodies.c, graph_device.c, execs.c), and the tracker that owns
 * the graphs (tracker.h). */

/* Terms (docs/glossary.md):
 *   body: a graph in a conditional node
 *   exec: an instantiated graph (CUgraphExec)
 *   grid: the index that finds what lies at an address
 *   inner node: a node in a child graph or a body
 *   source: the memory that a copy reads
 *   stage: the part of a graph's nodes that one notifier tells the host of
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_GRAPHS_INTERNAL_H
#define SC_TRACK_GRAPHS_INTERNAL_H

#include "common/handles.h"
#include "common/pool.h"
#include "track/graph_records.h"
#include "track/graphs.h"
#include "track/grid.h"

/* The links of one use in two lists: in the hash chain of its node, and in the list of its
 * interval. links[i] belongs to uses.list[i]. A use is named by its index + 1; 0: none. */
struct sc_graph_link {
    uint32_t hashed_first; /* first use of those whose node hashes to this place */
    uint32_t hashed_next;  /* the next use whose node has the same hash */
    uint32_t interval_previous;
};

/* A piece of host memory, mostly an allocation, that one graph uses, with the list of the graph's
 * uses there. The grid finds intervals by address. */
struct sc_graph_interval {
    struct sc_grid_node node;
    uint32_t graph : 31;
    bool heap : 1;           /* it is in heap_grid, not in grid */
    uint32_t next, previous; /* of the same graph */
    uint32_t first_use;      /* its index + 1 */
};

struct sc_graphs {
    struct sc_pool pool, intervals, extras;
    struct sc_grid grid;      /* intervals of memory that only the driver frees */
    struct sc_grid heap_grid; /* intervals of memory that free() or munmap() could take away */
    struct sc_handles by_handle;
    struct sc_handles by_node; /* node of a graph that is no exec -> the graph's handle */
    struct sc_handles copies;  /* addresses of the library's copies of sources */
    struct sc_order *order;
    _Atomic uint32_t orphan_count;
};

/* Returns the record of the graph with this id. Lock-free: without the lock it may be read as long
 * as the program may use the handle. */
static inline struct sc_graph *sc_graphs_at(struct sc_graphs *graphs, uint32_t graph)
{
    return sc_pool_at(&graphs->pool, graph);
}

/* Returns false only if no graph uses host memory in the interval. Lock-free. */
static inline bool sc_graphs_may_name(struct sc_graphs *graphs, uintptr_t address,
                                      size_t size_bytes)
{
    return sc_grid_may_overlap(&graphs->grid, address, size_bytes) ||
           sc_grid_may_overlap(&graphs->heap_grid, address, size_bytes);
}

/* Appends a copy of the use to the list and returns it; NULL: no memory. */
struct sc_graph_use *sc_graph_uses_append(struct sc_graphs *graphs, struct sc_graph_uses *uses,
                                          const struct sc_graph_use *use);
/* Frees the memory of the list of uses. What single uses have besides (struct sc_graph_extra)
 * stays. */
void sc_graph_uses_free(struct sc_graphs *graphs, struct sc_graph_uses *uses);

/* Walk over the uses of one node (what it does with each piece of memory): return the node's first
 * use, and the next use of the same node; 0: there is none. Node 0 has none. After several walks a
 * graph with many uses gets hash links, so that a walk costs only as much as the node has uses. */
uint32_t sc_graph_first_of(struct sc_graphs *graphs, struct sc_graph *graph, uintptr_t node);
uint32_t sc_graph_next_of(const struct sc_graph *graph, uint32_t use);

/* Add the use to the hash chain by which its node finds it, and remove it. Pre: the graph has
 * links. */
void sc_graph_link_node(struct sc_graph *graph, uint32_t use);
void sc_graph_unlink_node(struct sc_graph *graph, uint32_t use);

/* Add the use to the list of its interval (its piece of memory, by which a free finds it), and
 * remove it. */
void sc_graph_link_interval(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t use);
void sc_graph_unlink_interval(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t use);

/* Frees the graph's links (hash chains of uses by node). Called before the list of uses is freed or
 * made larger, since the links are made for the present list. */
void sc_graph_links_free(struct sc_graphs *graphs, struct sc_graph *graph);

/* Drops the use, and leaves its place in the list empty, since others are named by their index. */
void sc_graphs_drop_use(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t use);

/* Returns what only few uses have, made if the use has none; NULL: no memory. */
struct sc_graph_extra *sc_graphs_make_extra(struct sc_graphs *graphs, struct sc_graph_use *use);

/* Adds `one`, which is 1 or -1, to the counts of the graph (freed, on stacks, of device memory,
 * waited for) that the use belongs to. */
void sc_graph_count_use(struct sc_graph *graph, const struct sc_graph_use *use, int one);

/* Enables or disables the use, and corrects the graph's counts. */
void sc_graph_enable_use(struct sc_graph *graph, struct sc_graph_use *use, bool enabled);

/* Adds to a node's flags (what stays the same of it when it gets new parameters) what the use
 * contributes. Only the node's first use of host memory and its first use of device memory
 * contribute; kernels' addresses do not. `seen`: a bit for each of the two that was met already; 0
 * at first. */
void sc_graph_add_flags(struct sc_graph_flags *flags, unsigned *seen,
                        const struct sc_graph_use *use);

/* Returns true if the graph keeps this use of device memory: there is room, and the exec does not
 * leave it out. */
bool sc_graph_takes_device(const struct sc_graph *graph, const struct sc_graph_use *use);

/* Drops the races (a common byte, no order) of the node, which has changed; with node 0, all races.
 */
void sc_graph_drop_races(struct sc_graph *graph, uintptr_t node);
/* Frees the memory that graph_device.c keeps for the graph. */
void sc_graph_free_device(struct sc_graphs *graphs, struct sc_graph *graph);

/* Returns the stage (track/stages.h) up to which the node tells the host that work is done; 0: it
 * tells of none. */
uint8_t sc_graph_notified_stage(const struct sc_graph *graph, uintptr_t node);

/* Drops the events and races of the node; with node 0, all that is known of nodes except their
 * uses. */
void sc_graph_drop_events(struct sc_graph *graph, uintptr_t node);
/* Drops those events that the node records or waits for which come from the node `inner` within it,
 * or from nodes within that. */
void sc_graph_drop_inner_events(struct sc_graph *graph, uintptr_t node, uintptr_t inner);

/* Forgets which nodes lie inside of others, in child graphs or bodies (inner nodes). */
void sc_graph_forget_inner(struct sc_graph *graph);

/* Returns true if `node` is `of`, or lies within it. */
bool sc_graph_is_within(struct sc_graph *graph, uintptr_t node, uintptr_t of);

/* Enables or disables the uses of the node, if it is an inner one (in a child graph or a body). */
void sc_graph_enable_inner(struct sc_graphs *graphs, struct sc_graph *graph, uintptr_t node,
                           bool enabled);

/* Frees the memory that graph_nodes.c keeps for the graph. */
void sc_graph_free_nodes(struct sc_graphs *graphs, struct sc_graph *graph);

/* The graph has changed: if it is an exec, its runs (what launches record) have to be made anew. */
static inline void sc_graph_note_stale(struct sc_graph *graph)
{
    graph->exec.is_stale = graph->is_exec;
}

/* Returns true if the node of the exec is disabled. The driver is not asked, since the node's own
 * graph, and with it the node, may be gone. */
static inline bool sc_graph_is_disabled(struct sc_graph *graph, uintptr_t node)
{
    return graph->exec.disables && node && sc_handles_get(&graph->exec.disabled, node);
}

/* Returns those reasons, out of a node's flags `unsure`, that concern the use's kind of memory
 * (host or device). */
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

/* Returns true if the uses have the same bytes, direction and kind of memory (host or device). */
static inline bool sc_graph_uses_alike(const struct sc_graph_use *a, const struct sc_graph_use *b)
{
    return a->shape.address == b->shape.address && a->direction == b->direction &&
           sc_graph_is_of_device(a) == sc_graph_is_of_device(b) &&
           a->reads_device == b->reads_device &&
           sc_shape_hull_bytes(&a->shape) == sc_shape_hull_bytes(&b->shape);
}

#endif

/* Finds the uses of a graph (what one node does with one piece of memory) by their node, by hash
 * chains that only large graphs get, and links the uses of one piece of memory in both directions.
 */
#include <string.h>

#include "common/checks.h"
#include "track/graphs_internal.h"
#include "track/order.h"

#include "common/poison.h"

/* Links (hash chains by node, and back links by memory) are made for a graph with at least
 * LINKED_MIN uses, once its uses were looked through SCANS_MAX times. Others are searched use by
 * use. */
enum { LINKED_MIN = 64, SCANS_MAX = 8 };

/* ---- by node ---- */

/* Returns the links of the use (of a piece of memory by a node), which is named by its index + 1.
 */
static struct sc_graph_link *link_at(const struct sc_graph *graph, uint32_t use)
{
    return &graph->links[use - 1];
}

/* Returns the head of the hash chain in which the uses (of memory by nodes) of the node are. The
 * list's capacity, a power of two, is the number of chains. */
static uint32_t *first_hashed(const struct sc_graph *graph, uintptr_t node)
{
    uint32_t hash = (uint32_t)((uint64_t)node * 0x9E3779B97F4A7C15u >> 32);
    return &graph->links[hash & (graph->uses.capacity - 1)].hashed_first;
}

/* Returns the node's next use in the hash chain, this one included. Uses of other nodes may be in
 * the chain. */
static uint32_t next_in_chain(const struct sc_graph *graph, uint32_t use, uintptr_t node)
{
    while (use && sc_graph_use_at(graph, use)->node != node)
        use = link_at(graph, use)->hashed_next;
    return use;
}

/* Returns the node's first use from this one on, or 0, for a graph that has no hash chains: looks
 * at each use (of a piece of memory by a node). */
static uint32_t scan_uses_from(const struct sc_graph *graph, uint32_t use, uintptr_t node)
{
    for (; use <= graph->uses.count; use++)
        if (sc_graph_use_at(graph, use)->node == node)
            return use;
    return 0;
}

/* Adds the use (of a piece of memory by a node) to the hash chain by which its node finds it.
 * Nobody looks up a use whose node is not known. */
void sc_graph_link_node(struct sc_graph *graph, uint32_t use)
{
    uintptr_t node = sc_graph_use_at(graph, use)->node;
    if (!node)
        return;
    uint32_t *first = first_hashed(graph, node);
    link_at(graph, use)->hashed_next = *first;
    *first = use;
}

/* A use (of a piece of memory by a node) is about to be dropped: takes it out of the hash chain of
 * its node. */
void sc_graph_unlink_node(struct sc_graph *graph, uint32_t use)
{
    uintptr_t node = sc_graph_use_at(graph, use)->node;
    if (!node)
        return;
    uint32_t *link = first_hashed(graph, node);
    while (*link != use)
        link = &link_at(graph, *link)->hashed_next;
    *link = link_at(graph, use)->hashed_next;
}

/* ---- by interval ---- */

/* Sets the link to the use (of a piece of memory by a node) before this one in the list of one
 * piece of memory. A graph without links has none: who removes a use there walks the list. */
static void set_previous(const struct sc_graph *graph, uint32_t use, uint32_t previous)
{
    if (graph->links && use)
        link_at(graph, use)->interval_previous = previous;
}

/* Adds the use (of a piece of memory by a node) to the list of its interval (a piece of memory that
 * the graph uses), by which a free there finds it. */
void sc_graph_link_interval(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t use)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph_use *linked = sc_graph_use_at(graph, use);
    struct sc_graph_interval *interval = sc_graphs_interval_at(graphs, linked->interval);
    linked->interval_next = interval->first_use;
    set_previous(graph, interval->first_use, use);
    set_previous(graph, use, 0);
    interval->first_use = use;
}

/* Returns the use (of a piece of memory by a node) before this one in the list of its memory, or 0
 * if it is the first. A graph without back links is small, so the list is walked. */
static uint32_t find_previous(const struct sc_graph *graph, uint32_t first, uint32_t use)
{
    uint32_t previous = 0;
    if (graph->links)
        return link_at(graph, use)->interval_previous;
    for (uint32_t at = first; at != use; at = sc_graph_use_at(graph, at)->interval_next)
        previous = at;
    return previous;
}

/* A use (of a piece of memory by a node) is about to be dropped: takes it out of the list of its
 * interval (its piece of memory). */
void sc_graph_unlink_interval(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t use)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    const struct sc_graph_use *unlinked = sc_graph_use_at(graph, use);
    struct sc_graph_interval *interval = sc_graphs_interval_at(graphs, unlinked->interval);
    uint32_t previous = find_previous(graph, interval->first_use, use);
    *(previous ? &sc_graph_use_at(graph, previous)->interval_next : &interval->first_use) =
        unlinked->interval_next;
    set_previous(graph, unlinked->interval_next, previous);
}

/* ---- the links ---- */

/* Links have just been made: sets, for each use (of a piece of memory by a node) of the interval's
 * list, the link to the use before it. */
static void link_backwards(struct sc_graph *graph, const struct sc_graph_interval *interval)
{
    uint32_t previous = 0;
    for (uint32_t use = interval->first_use; use;
         use = sc_graph_use_at(graph, use)->interval_next) {
        set_previous(graph, use, previous);
        previous = use;
    }
}

/* The size of the links: one for each place of the list of uses. */
static size_t links_bytes(const struct sc_graph *graph)
{
    return graph->uses.capacity * sizeof *graph->links;
}

/* Makes the hash chains by node, and the back links by memory, for all uses (of memory by nodes) of
 * the graph. Without memory there are none, and look-ups go on to check each use. */
static void make_links(struct sc_graphs *graphs, struct sc_graph *graph)
{
    graph->links = sc_arena_alloc(&graphs->order->arena, links_bytes(graph));
    if (!graph->links)
        return;
    memset(graph->links, 0, links_bytes(graph));
    for (uint32_t use = 1; use <= graph->uses.count; use++)
        sc_graph_link_node(graph, use);
    for (uint32_t id = graph->first_interval; id; id = sc_graphs_interval_at(graphs, id)->next)
        link_backwards(graph, sc_graphs_interval_at(graphs, id));
}

/* Frees the links, since the list that they are made for is about to be freed or to grow. */
void sc_graph_links_free(struct sc_graphs *graphs, struct sc_graph *graph)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    sc_arena_free(&graphs->order->arena, graph->links, links_bytes(graph));
    graph->links = NULL;
}

/* ---- look-ups ---- */

/* Returns the node's first use; 0: it has none. A graph with many uses that is searched again and
 * again gets hash chains here. Node 0 stands for nodes that are not known. */
uint32_t sc_graph_first_of(struct sc_graphs *graphs, struct sc_graph *graph, uintptr_t node)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    if (!node)
        return 0;
    if (!graph->links && graph->uses.count >= LINKED_MIN && graph->scans++ >= SCANS_MAX)
        make_links(graphs, graph);
    return graph->links ? next_in_chain(graph, *first_hashed(graph, node), node)
                        : scan_uses_from(graph, 1, node);
}

/* Returns the next use of the same node; 0: none. Follows its hash chain, or checks each use (of a
 * piece of memory by a node) behind this one. */
uint32_t sc_graph_next_of(const struct sc_graph *graph, uint32_t use)
{
    uintptr_t node = sc_graph_use_at(graph, use)->node;
    return graph->links ? next_in_chain(graph, link_at(graph, use)->hashed_next, node)
                        : scan_uses_from(graph, use + 1, node);
}

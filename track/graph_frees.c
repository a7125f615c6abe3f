/* Finds the uses of graphs (what one node does with one piece of memory) by their memory: what is
 * freed, and which graph named it. */
#include "track/graph_frees.h"
#include "common/checks.h"
#include "track/graphs_internal.h"

#include "common/poison.h"

#define EACH_INTERVAL(walk, graphs, address, size_bytes)                                           \
    SC_GRID_EACH_OF_TWO (walk, &(graphs)->grid, &(graphs)->heap_grid, address, size_bytes)

/* ---- uses of nodes without a name ---- */

struct former_search {
    struct sc_graphs *graphs;
    const struct sc_graph_use *former;
    uint32_t graph; /* the graph that has such a use; 0: none yet */
    uint32_t use;   /* its index + 1 */
    bool several;   /* several graphs have such a use */
};

/* Searches one piece of memory of a graph for a use (of a piece of memory by a node) like the
 * former one, of a node whose handle is not known. Execs (instantiated graphs) and graphs that are
 * being destroyed are left out. One that was freed is preferred: if that stayed, a valid use could
 * be mistaken for it later. */
static void search_interval(struct former_search *search, uint32_t id)
{
    const struct sc_graph_interval *interval = sc_graphs_interval_at(search->graphs, id);
    const struct sc_graph *graph = sc_graphs_at(search->graphs, interval->graph);
    const struct sc_graph_use *list = graph->uses.list;
    if (graph->is_exec || sc_graphs_find(search->graphs, graph->handle) != interval->graph)
        return;
    for (uint32_t i = interval->first_use; i; i = list[i - 1].interval_next) {
        if (list[i - 1].node || !sc_graph_uses_alike(&list[i - 1], search->former))
            continue;
        search->several |= search->graph && search->graph != interval->graph;
        if (search->graph != interval->graph || list[i - 1].freed)
            search->use = i;
        search->graph = interval->graph;
    }
}

/* The program has changed a node of which only the driver knows the graph. Drops the use (of a
 * piece of memory by a node) that the node had before, found by its bytes in a graph that names no
 * node for it. If several graphs have such a use, nothing says whose it was. */
void sc_graphs_drop_former(struct sc_graphs *graphs, const struct sc_graph_use *former)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct former_search search = {.graphs = graphs, .former = former};
    EACH_INTERVAL(walk, graphs, former->shape.address, sc_shape_hull_bytes(&former->shape))
    search_interval(&search, walk.id);
    if (!search.graph || search.several)
        return;
    sc_graphs_drop_use(graphs, sc_graphs_at(graphs, search.graph), search.use);
}

/* Memory whose uses are marked as freed by the call `by`; NULL: memory that exists again, so that
 * they are no longer freed. */
struct freed {
    struct sc_graphs *graphs;
    uintptr_t address, end;
    const struct sc_hazard_event *by;
    bool is_registered; /* without `by`: it is registered again, else mapped again */
};

/* Does the use (of a piece of memory by a node) overlap the memory in question? The interval that
 * lists it may be larger. */
static bool uses_freed_bytes(const struct freed *freed, const struct sc_graph_use *use)
{
    return use->shape.address < freed->end && sc_graph_use_end(use) > freed->address;
}

/* Does the node need what is lost? The driver copies memory as it was when the node was added: what
 * was pageable then is used as pageable memory, registered or not (docs/driver.md, Q28). */
static bool is_concerned(const struct sc_graph_use *use, bool unregistered)
{
    return !unregistered || (use->kind != SC_PAGEABLE && use->kind != SC_STACK);
}

/* Would a launch of any graph use the memory, which is about to be freed? Frees without a known
 * size ask for one byte. */
bool sc_graphs_name_memory(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes,
                           bool unregistered)
{
    size_t hull_bytes = size_bytes ? size_bytes : 1;
    const struct freed interval_asked = {graphs, address, address + hull_bytes, NULL, false};
    EACH_INTERVAL(walk, graphs, address, hull_bytes)
    {
        const struct sc_graph_interval *interval = sc_graphs_interval_at(graphs, walk.id);
        const struct sc_graph_use *list = sc_graphs_at(graphs, interval->graph)->uses.list;
        for (uint32_t i = interval->first_use; i; i = list[i - 1].interval_next)
            if (uses_freed_bytes(&interval_asked, &list[i - 1]) &&
                is_concerned(&list[i - 1], unregistered))
                return true;
    }
    return false;
}

/* Is a use (of a piece of memory by a node) that is marked as freed valid again? In memory that was
 * unregistered, once that is registered: but a copy stays bound to the registration that has ended
 * (docs/driver.md, Q28). In memory that was unmapped, once all of it is mapped: but a registration
 * has the old pages, unless those are a segment's. */
static bool is_valid_again(const struct freed *freed, const struct sc_graph_use *use)
{
    const struct sc_hazard_event *by = &sc_graphs_extra(freed->graphs, use)->freed_by;
    if (freed->is_registered)
        return by->unregistered && use->direction != SC_H2D && use->direction != SC_D2H;
    return use->shape.address >= freed->address && sc_graph_use_end(use) <= freed->end &&
           (by->detached || (by->unmapped && use->kind != SC_REGISTERED));
}

/* Marks the use (of a piece of memory by a node) as freed by the call `by`, which a later launch
 * reports. The first free stays. Without `by` the memory exists again. */
static void mark_freed(const struct freed *freed, struct sc_graph *graph, struct sc_graph_use *use)
{
    struct sc_graph_extra *extra = NULL;
    if (!freed->by) {
        bool is_back = use->freed && is_valid_again(freed, use);
        graph->freed_count -= is_back;
        use->freed &= !is_back;
    } else if (!use->freed && (use->range || !freed->by->unregistered) &&
               (extra = sc_graphs_make_extra(freed->graphs, use))) {
        extra->freed_by = *freed->by;
        use->freed = true;
        graph->freed_count++;
    }
}

/* Marks all graphs' uses in the memory. What launches of execs (instantiated graphs) record has to
 * be made anew then. */
static void mark_uses_freed(const struct freed *freed)
{
    EACH_INTERVAL(walk, freed->graphs, freed->address, freed->end - freed->address)
    {
        const struct sc_graph_interval *interval = sc_graphs_interval_at(freed->graphs, walk.id);
        struct sc_graph *graph = sc_graphs_at(freed->graphs, interval->graph);
        for (uint32_t i = interval->first_use; i; i = graph->uses.list[i - 1].interval_next)
            if (uses_freed_bytes(freed, &graph->uses.list[i - 1]))
                mark_freed(freed, graph, &graph->uses.list[i - 1]);
        graph->exec.is_stale = graph->is_exec;
    }
}

/* The program has registered or mapped memory again, so graphs may use it again. */
void sc_graphs_note_again(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes,
                          bool is_registered)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    mark_uses_freed(&(struct freed){graphs, address, address + size_bytes, NULL, is_registered});
}

/* The call `by` has freed the memory: launches that use it from now on are reported. Frees without
 * a known size name one byte. */
void sc_graphs_note_freed(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes,
                          const struct sc_hazard_event *by)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    mark_uses_freed(
        &(struct freed){graphs, address, address + (size_bytes ? size_bytes : 1), by, false});
}

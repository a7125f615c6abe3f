/* Uses by where their memory is: what is freed, and who named it. */
#include "track/graph_frees.h"
#include "track/checks.h"
#include "track/graphs_internal.h"

#include "track/poison.h"

/* Until visit returns false, of each grid. */
static void each_interval(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes,
                          bool (*visit)(void *context, uint32_t id), void *context)
{
    if (!sc_grid_is_empty(&graphs->grid))
        sc_grid_overlaps_locked(&graphs->grid, address, size_bytes, visit, context);
    if (!sc_grid_is_empty(&graphs->heap_grid))
        sc_grid_overlaps_locked(&graphs->heap_grid, address, size_bytes, visit, context);
}

/* ---- uses of nodes without a name ---- */

struct former_search {
    struct sc_graphs *graphs;
    const struct sc_graph_use *former;
    uint32_t graph; /* that has such a use, or 0 */
    uint32_t use;   /* its index + 1 */
    bool several;   /* graphs have */
};

/* Among those that are alike, looks for one that was freed, so that none that lives is taken for it
 * later. */
static bool look_for_former(void *context, uint32_t id)
{
    struct former_search *search = context;
    const struct sc_graph_interval *interval = sc_graphs_interval_at(search->graphs, id);
    const struct sc_graph *graph = sc_graphs_at(search->graphs, interval->graph);
    const struct sc_graph_use *list = graph->uses.list;
    if (graph->is_exec || sc_graphs_find(search->graphs, graph->handle) != interval->graph)
        return true;
    for (uint32_t i = interval->first_use; i; i = list[i - 1].interval_next) {
        if (list[i - 1].node || !sc_graph_uses_alike(&list[i - 1], search->former))
            continue;
        search->several |= search->graph && search->graph != interval->graph;
        if (search->graph != interval->graph || list[i - 1].freed)
            search->use = i;
        search->graph = interval->graph;
    }
    return !search->several;
}

void sc_graphs_drop_former(struct sc_graphs *graphs, const struct sc_graph_use *former)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct former_search search = {.graphs = graphs, .former = former};
    each_interval(graphs, former->shape.address, sc_shape_hull_bytes(&former->shape),
                  look_for_former, &search);
    if (!search.graph || search.several)
        return;
    sc_graphs_drop_use(graphs, sc_graphs_at(graphs, search.graph), search.use);
}

/* Uses in [address, end) are marked as freed, or as no longer so (`by` is NULL). */
struct freed {
    struct sc_graphs *graphs;
    uintptr_t address, end;
    const struct sc_hazard_event *by;
};

static bool is_touched(const struct freed *freed, const struct sc_graph_use *use)
{
    return use->shape.address < freed->end && sc_graph_use_end(use) > freed->address;
}

struct name_search {
    struct freed at;
    bool found;
};

static bool look_for_name(void *context, uint32_t id)
{
    struct name_search *search = context;
    const struct sc_graph_interval *interval = sc_graphs_interval_at(search->at.graphs, id);
    const struct sc_graph_use *list = sc_graphs_at(search->at.graphs, interval->graph)->uses.list;
    for (uint32_t i = interval->first_use; i && !search->found; i = list[i - 1].interval_next)
        search->found = is_touched(&search->at, &list[i - 1]);
    return !search->found;
}

bool sc_graphs_name(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes)
{
    size_t whole = size_bytes ? size_bytes : 1;
    struct name_search search = {{graphs, address, address + whole, NULL}, false};
    each_interval(graphs, address, whole, look_for_name, &search);
    return search.found;
}

static void mark(const struct freed *freed, struct sc_graph *graph, struct sc_graph_use *use)
{
    struct sc_graph_extra *extra = NULL;
    if (!freed->by) {
        bool back = use->freed && sc_graphs_extra(freed->graphs, use)->freed_by.unregistered;
        graph->freed_count -= back;
        use->freed &= !back;
    } else if (!use->freed && (extra = sc_graphs_make_extra(freed->graphs, use))) {
        extra->freed_by = *freed->by;
        use->freed = true;
        graph->freed_count++;
    }
}

static bool mark_uses(void *context, uint32_t id)
{
    const struct freed *freed = context;
    const struct sc_graph_interval *interval = sc_graphs_interval_at(freed->graphs, id);
    struct sc_graph *graph = sc_graphs_at(freed->graphs, interval->graph);
    for (uint32_t i = interval->first_use; i; i = graph->uses.list[i - 1].interval_next)
        if (is_touched(freed, &graph->uses.list[i - 1]))
            mark(freed, graph, &graph->uses.list[i - 1]);
    graph->exec.is_stale = graph->is_exec;
    return true;
}

void sc_graphs_note_registered(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct freed freed = {graphs, address, address + size_bytes, NULL};
    if (size_bytes)
        each_interval(graphs, address, size_bytes, mark_uses, &freed);
}

void sc_graphs_note_freed(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes,
                          const struct sc_hazard_event *by)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct freed freed = {graphs, address, address + (size_bytes ? size_bytes : 1), by};
    each_interval(graphs, address, freed.end - address, mark_uses, &freed);
}

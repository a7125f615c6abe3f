#include "track/graphs.h"

#include <errno.h>
#include <string.h>

#include "track/poison.h"

enum { GRID_CELLS = 1 << 12, CAPACITY_MIN = 4 };

int sc_graphs_init(struct sc_graphs *graphs, struct sc_arena *arena)
{
    memset(graphs, 0, sizeof *graphs);
    graphs->arena = arena;
    sc_pool_init(&graphs->pool, sizeof(struct sc_graph));
    sc_pool_init(&graphs->intervals, sizeof(struct sc_graph_interval));
    return sc_grid_init(&graphs->grid, &graphs->intervals, GRID_CELLS) ||
                   sc_handles_init(&graphs->by_handle)
               ? -ENOMEM
               : 0;
}

void sc_graphs_destroy(struct sc_graphs *graphs)
{
    sc_handles_destroy(&graphs->by_handle);
    sc_grid_destroy(&graphs->grid);
    sc_pool_destroy(&graphs->intervals);
    sc_pool_destroy(&graphs->pool);
}

uint32_t sc_graphs_find(struct sc_graphs *graphs, uintptr_t handle)
{
    return (uint32_t)sc_handles_get(&graphs->by_handle, handle);
}

static uint32_t find_or_make(struct sc_graphs *graphs, uintptr_t handle)
{
    uint32_t id = sc_graphs_find(graphs, handle);
    if (id || !(id = sc_pool_take(&graphs->pool)))
        return id;
    sc_graphs_at(graphs, id)->handle = handle;
    if (sc_handles_put(&graphs->by_handle, handle, id) == 0)
        return id;
    sc_pool_give(&graphs->pool, id);
    return 0;
}

/* ---- uses ---- */

static void give_uses(struct sc_graphs *graphs, struct sc_graph_uses *uses)
{
    if (uses->list)
        sc_arena_give(graphs->arena, uses->list, uses->capacity * sizeof *uses->list);
    *uses = (struct sc_graph_uses){0};
}

static bool append(struct sc_graphs *graphs, struct sc_graph_uses *uses,
                   const struct sc_graph_use *use)
{
    if (uses->count == uses->capacity) {
        struct sc_graph_uses larger = {
            .count = uses->count, .capacity = uses->capacity ? uses->capacity * 2 : CAPACITY_MIN};
        larger.list = sc_arena_take(graphs->arena, larger.capacity * sizeof *larger.list);
        if (!larger.list)
            return false;
        if (uses->count)
            memcpy(larger.list, uses->list, uses->count * sizeof *uses->list);
        give_uses(graphs, uses);
        *uses = larger;
    }
    uses->list[uses->count++] = *use;
    return true;
}

static uintptr_t end_of(const struct sc_graph_use *use)
{
    return use->shape.address + sc_shape_hull_bytes(&use->shape);
}

/* Nobody frees a stack. */
static bool add_interval(struct sc_graphs *graphs, uint32_t graph, const struct sc_graph_use *use)
{
    if (use->kind == SC_STACK)
        return true;
    uint32_t id = sc_pool_take(&graphs->intervals);
    if (!id)
        return false;
    struct sc_graph_interval *interval = sc_pool_at(&graphs->intervals, id);
    atomic_store_explicit(&interval->node.address, use->shape.address, memory_order_release);
    atomic_store_explicit(&interval->node.size_bytes, sc_shape_hull_bytes(&use->shape),
                          memory_order_release);
    interval->graph = graph;
    interval->next = sc_graphs_at(graphs, graph)->first_interval;
    sc_graphs_at(graphs, graph)->first_interval = id;
    sc_grid_insert(&graphs->grid, id);
    return true;
}

static void drop_intervals(struct sc_graphs *graphs, struct sc_graph *graph)
{
    while (graph->first_interval) {
        uint32_t id = graph->first_interval;
        graph->first_interval =
            ((struct sc_graph_interval *)sc_pool_at(&graphs->intervals, id))->next;
        sc_grid_remove(&graphs->grid, id);
        sc_pool_give(&graphs->intervals, id);
    }
}

static void note_flags(struct sc_graph *graph, const struct sc_graph_use *use)
{
    graph->has_freed |= use->freed;
    graph->has_stack |= use->kind == SC_STACK;
    graph->waits |= use->direction == SC_D2H && !use->disabled &&
                    (use->kind == SC_STACK || use->kind == SC_PAGEABLE);
}

bool sc_graphs_add(struct sc_graphs *graphs, uintptr_t handle, const struct sc_graph_use *use)
{
    uint32_t id = find_or_make(graphs, handle);
    if (!id || !append(graphs, &sc_graphs_at(graphs, id)->uses, use))
        return false;
    note_flags(sc_graphs_at(graphs, id), use);
    return add_interval(graphs, id, use);
}

void sc_graphs_add_all(struct sc_graphs *graphs, uintptr_t handle, uintptr_t of)
{
    uint32_t from = sc_graphs_find(graphs, of);
    uint32_t count = from && handle != of ? sc_graphs_at(graphs, from)->uses.count : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct sc_graph_use use = sc_graphs_at(graphs, from)->uses.list[i];
        use.node = 0;
        sc_graphs_add(graphs, handle, &use);
    }
}

/* What is left after a change: flags, intervals and the launch's list are made anew. */
static void refresh(struct sc_graphs *graphs, uint32_t id)
{
    struct sc_graph *graph = sc_graphs_at(graphs, id);
    drop_intervals(graphs, graph);
    graph->has_freed = graph->has_stack = graph->waits = false;
    for (uint32_t i = 0; i < graph->uses.count; i++) {
        note_flags(graph, &graph->uses.list[i]);
        if (!graph->is_merged)
            add_interval(graphs, id, &graph->uses.list[i]);
    }
    if (graph->is_merged)
        sc_graphs_merge(graphs, graph->handle);
}

void sc_graphs_drop_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node)
{
    uint32_t id = sc_graphs_find(graphs, handle);
    if (!id)
        return;
    struct sc_graph_uses *uses = &sc_graphs_at(graphs, id)->uses;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < uses->count; i++)
        if (node && uses->list[i].node != node)
            uses->list[kept++] = uses->list[i];
    uses->count = kept;
    refresh(graphs, id);
}

void sc_graphs_enable_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node, bool enabled)
{
    uint32_t id = sc_graphs_find(graphs, handle);
    if (!id)
        return;
    struct sc_graph_uses *uses = &sc_graphs_at(graphs, id)->uses;
    for (uint32_t i = 0; i < uses->count; i++)
        if (uses->list[i].node == node)
            uses->list[i].disabled = !enabled;
    refresh(graphs, id);
}

static struct sc_graph_uses *uses_of(struct sc_graphs *graphs, uintptr_t handle)
{
    static struct sc_graph_uses none;
    uint32_t id = sc_graphs_find(graphs, handle);
    return id ? &sc_graphs_at(graphs, id)->uses : &none;
}

void sc_graphs_unjudge_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node)
{
    struct sc_graph_uses *uses = uses_of(graphs, handle);
    for (uint32_t i = 0; i < uses->count; i++)
        uses->list[i].unjudged |= uses->list[i].node == node;
}

struct sc_graph_flags sc_graphs_flags(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node)
{
    const struct sc_graph_uses *uses = uses_of(graphs, handle);
    for (uint32_t i = 0; i < uses->count; i++)
        if (uses->list[i].node == node)
            return (struct sc_graph_flags){uses->list[i].disabled, uses->list[i].unjudged};
    return (struct sc_graph_flags){0};
}

void sc_graphs_redirect_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node)
{
    struct sc_graph_uses *uses = uses_of(graphs, handle);
    for (uint32_t i = 0; i < uses->count; i++)
        uses->list[i].redirected |= uses->list[i].node == node && uses->list[i].saved;
}

void sc_graphs_remove(struct sc_graphs *graphs, uintptr_t handle)
{
    uint32_t id = (uint32_t)sc_handles_remove(&graphs->by_handle, handle);
    if (!id)
        return;
    struct sc_graph *graph = sc_graphs_at(graphs, id);
    drop_intervals(graphs, graph);
    give_uses(graphs, &graph->uses);
    give_uses(graphs, &graph->merged);
    sc_pool_give(&graphs->pool, id);
}

/* ---- the launch's list ---- */

static bool comes_before(const struct sc_graph_use *a, const struct sc_graph_use *b)
{
    return a->direction != b->direction ? a->direction < b->direction
                                        : a->shape.address < b->shape.address;
}

static void sift_down(struct sc_graph_use *list, uint32_t root, uint32_t count)
{
    for (uint32_t child = 2 * root + 1; child < count; root = child, child = 2 * root + 1) {
        if (child + 1 < count && comes_before(&list[child], &list[child + 1]))
            child++;
        if (!comes_before(&list[root], &list[child]))
            return;
        struct sc_graph_use swapped = list[root];
        list[root] = list[child];
        list[child] = swapped;
    }
}

/* A heap sort: qsort may allocate. What a program captured in order needs none. */
static void sort(struct sc_graph_use *list, uint32_t count)
{
    uint32_t ordered = 1;
    while (ordered < count && !comes_before(&list[ordered], &list[ordered - 1]))
        ordered++;
    if (ordered >= count)
        return;
    for (uint32_t i = count / 2; i > 0; i--)
        sift_down(list, i - 1, count);
    for (uint32_t last = count - 1; last > 0; last--) {
        struct sc_graph_use largest = list[0];
        list[0] = list[last];
        list[last] = largest;
        sift_down(list, 0, last);
    }
}

static bool continues(const struct sc_graph_use *earlier, const struct sc_graph_use *use)
{
    return earlier->direction == use->direction && earlier->kind == use->kind &&
           earlier->range == use->range && earlier->unjudged == use->unjudged &&
           earlier->freed == use->freed && earlier->shape.rows == 1 && use->shape.rows == 1 &&
           use->shape.address <= end_of(earlier);
}

static void extend(struct sc_graph_use *earlier, const struct sc_graph_use *use)
{
    if (end_of(use) > end_of(earlier))
        earlier->shape.width_bytes = end_of(use) - earlier->shape.address;
    earlier->shape.pitch_bytes = earlier->shape.width_bytes;
}

void sc_graphs_merge(struct sc_graphs *graphs, uintptr_t handle)
{
    uint32_t id = sc_graphs_find(graphs, handle);
    if (!id)
        return;
    struct sc_graph *graph = sc_graphs_at(graphs, id);
    struct sc_graph_uses merged = {0};
    for (uint32_t i = 0; i < graph->uses.count; i++)
        if (!graph->uses.list[i].disabled && graph->uses.list[i].kind != SC_STACK)
            append(graphs, &merged, &graph->uses.list[i]);
    sort(merged.list, merged.count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < merged.count; i++) {
        if (kept && continues(&merged.list[kept - 1], &merged.list[i]))
            extend(&merged.list[kept - 1], &merged.list[i]);
        else
            merged.list[kept++] = merged.list[i];
    }
    merged.count = kept;
    drop_intervals(graphs, graph);
    for (uint32_t i = 0; i < kept; i++)
        add_interval(graphs, id, &merged.list[i]);
    for (uint32_t i = 0; i < graph->uses.count; i++) /* it may be enabled again */
        if (graph->uses.list[i].disabled)
            add_interval(graphs, id, &graph->uses.list[i]);
    give_uses(graphs, &graph->merged);
    graph->merged = merged;
    graph->is_merged = true;
}

const struct sc_graph_use *sc_graphs_same_use(struct sc_graphs *graphs, uintptr_t handle,
                                              const struct sc_graph_use *use)
{
    uint32_t id = sc_graphs_find(graphs, handle);
    if (!id)
        return NULL;
    struct sc_graph *graph = sc_graphs_at(graphs, id);
    const struct sc_graph_uses *uses = &graph->uses;
    uint32_t start = graph->last_found;
    for (uint32_t i = 1; i <= uses->count; i++) {
        uint32_t at = (start + i) % uses->count;
        const struct sc_graph_use *known = &uses->list[at];
        graph->last_found = at;
        if (known->shape.address == use->shape.address && known->direction == use->direction &&
            sc_shape_hull_bytes(&known->shape) == sc_shape_hull_bytes(&use->shape))
            return known;
    }
    return NULL;
}

struct node_search {
    struct sc_graphs *graphs;
    uintptr_t node, found;
};

static void look_for_node(void *context, uintptr_t handle, uint64_t id)
{
    struct node_search *search = context;
    const struct sc_graph *graph = sc_graphs_at(search->graphs, (uint32_t)id);
    const struct sc_graph_uses *uses = &graph->uses;
    if (graph->is_merged)
        return;
    for (uint32_t i = 0; i < uses->count && !search->found; i++)
        if (uses->list[i].node == search->node)
            search->found = handle;
}

uintptr_t sc_graphs_of_node(struct sc_graphs *graphs, uintptr_t node)
{
    struct node_search search = {graphs, node, 0};
    sc_handles_each(&graphs->by_handle, look_for_node, &search);
    return search.found;
}

/* ---- frees ---- */

static bool note_found(void *context, uint32_t interval)
{
    (void)interval;
    *(bool *)context = true;
    return false;
}

bool sc_graphs_name(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes)
{
    bool found = false;
    if (!sc_grid_is_empty(&graphs->grid))
        sc_grid_overlaps_locked(&graphs->grid, address, size_bytes ? size_bytes : 1, note_found,
                                &found);
    return found;
}

struct freed {
    struct sc_graphs *graphs;
    uintptr_t address, end;
    const struct sc_hazard_event *by; /* NULL: it is back */
};

static bool mark_uses(const struct freed *freed, struct sc_graph_uses *uses)
{
    bool any = false;
    for (uint32_t i = 0; i < uses->count; i++) {
        struct sc_graph_use *use = &uses->list[i];
        bool touched = use->shape.address < freed->end && end_of(use) > freed->address;
        if (touched && !freed->by && use->freed_by.unregistered)
            use->freed = false;
        if (touched && freed->by && !use->freed) {
            use->freed = true;
            use->freed_by = *freed->by;
        }
        any |= use->freed;
    }
    return any;
}

static bool mark_freed(void *context, uint32_t id)
{
    const struct freed *freed = context;
    const struct sc_graph_interval *interval = sc_pool_at(&freed->graphs->intervals, id);
    struct sc_graph *graph = sc_graphs_at(freed->graphs, interval->graph);
    graph->has_freed = mark_uses(freed, &graph->uses);
    mark_uses(freed, &graph->merged);
    return true;
}

void sc_graphs_note_registered(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes)
{
    struct freed freed = {graphs, address, address + size_bytes, NULL};
    if (!sc_grid_is_empty(&graphs->grid) && size_bytes)
        sc_grid_overlaps_locked(&graphs->grid, address, size_bytes, mark_freed, &freed);
}

void sc_graphs_note_freed(struct sc_graphs *graphs, uintptr_t address, size_t size_bytes,
                          const struct sc_hazard_event *by)
{
    struct freed freed = {graphs, address, address + (size_bytes ? size_bytes : 1), by};
    if (!sc_grid_is_empty(&graphs->grid))
        sc_grid_overlaps_locked(&graphs->grid, address, freed.end - address, mark_freed, &freed);
}

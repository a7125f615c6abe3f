#include "common/checks.h"
#include "track/consistency.h"
#include "track/graph_frees.h"
#include "track/graphs_internal.h"
#include "track/watched_nodes.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "common/trace.h"
#include "track/copy_manner.h"
#include "track/order.h"
#include "track/order_calls.h"

#include "common/poison.h"

enum { GRID_CELLS = 1 << 12, CAPACITY_MIN = 4, INTERVALS_LOOKED_AT = 8 };

/* Initialises all tables and indexes of graphs. */
int sc_graphs_init(struct sc_graphs *graphs, struct sc_order *order)
{
    memset(graphs, 0, sizeof *graphs);
    graphs->order = order;
    sc_pool_init(&graphs->pool, sizeof(struct sc_graph));
    sc_pool_init(&graphs->intervals, sizeof(struct sc_graph_interval));
    sc_pool_init(&graphs->extras, sizeof(struct sc_graph_extra));
    return sc_grid_init(&graphs->grid, &graphs->intervals, GRID_CELLS) ||
                   sc_grid_init(&graphs->heap_grid, &graphs->intervals, GRID_CELLS) ||
                   sc_handles_init(&graphs->by_handle) || sc_handles_init(&graphs->by_node) ||
                   sc_handles_init(&graphs->copies)
               ? -ENOMEM
               : 0;
}

uint32_t sc_graphs_find(struct sc_graphs *graphs, uintptr_t handle)
{
    return (uint32_t)sc_handles_get(&graphs->by_handle, handle);
}

const struct sc_graph *sc_graphs_get(struct sc_graphs *graphs, uint32_t id)
{
    return sc_graphs_at(graphs, id);
}

bool sc_graphs_have_orphans(struct sc_graphs *graphs)
{
    return graphs->orphan_count != 0;
}

struct sc_graph *sc_graphs_find_or_empty(struct sc_graphs *graphs, uintptr_t handle)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    static struct sc_graph nothing;
    uint32_t id = sc_graphs_find(graphs, handle);
    return id ? sc_graphs_at(graphs, id) : &nothing;
}

static bool is_orphan(uintptr_t handle)
{
    return handle == sc_graphs_orphan(handle);
}

/* Returns the id of the graph, which gets a record if it has none, or 0 if there is no memory. */
static uint32_t find_or_make_graph(struct sc_graphs *graphs, uintptr_t handle)
{
    uint32_t id = sc_graphs_find(graphs, handle);
    if (id || !(id = sc_pool_take(&graphs->pool)))
        return id;
    sc_graphs_at(graphs, id)->handle = handle;
    if (sc_handles_put(&graphs->by_handle, handle, id) == 0) {
        graphs->orphan_count += is_orphan(handle);
        return id;
    }
    sc_pool_release(&graphs->pool, id);
    return 0;
}

uint32_t sc_graphs_make_exec(struct sc_graphs *graphs, uintptr_t handle)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    SC_TRACE("exec-make handle", handle);
    uint32_t id = find_or_make_graph(graphs, handle);
    if (id)
        sc_graphs_at(graphs, id)->is_exec = true;
    return id;
}

/* ---- copies that nodes read ---- */

struct copy {
    size_t size_bytes; /* of this record, with the bytes */
    _Alignas(16) uint64_t uses;
    _Alignas(16) unsigned char bytes[];
};

static struct copy *copy_header(void *bytes)
{
    return (struct copy *)(void *)((char *)bytes - offsetof(struct copy, bytes));
}

/* Allocates a copy, with a header that has its size and the number of its users: none yet, or one
 * with `for_ever`, so that the copy is never freed. */
void *sc_graphs_alloc_copy(struct sc_graphs *graphs, size_t size_bytes, bool for_ever)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct copy *copy = sc_arena_alloc(&graphs->order->arena, sizeof *copy + size_bytes);
    if (!copy)
        return NULL;
    *copy = (struct copy){.size_bytes = sizeof *copy + size_bytes, .uses = for_ever};
    if (sc_handles_put(&graphs->copies, (uintptr_t)copy->bytes, true) == 0)
        return copy->bytes;
    sc_arena_free(&graphs->order->arena, copy, copy->size_bytes);
    return NULL;
}

/* Releases one use of the copy, and frees the copy with the last one. */
static void release_copy(struct sc_graphs *graphs, void *bytes)
{
    struct copy *copy = copy_header(bytes);
    if (--copy->uses)
        return;
    sc_handles_remove(&graphs->copies, (uintptr_t)bytes);
    sc_arena_free(&graphs->order->arena, copy, copy->size_bytes);
}

/* ---- what few uses have ---- */

const struct sc_graph_extra *sc_graphs_extra(struct sc_graphs *graphs,
                                             const struct sc_graph_use *use)
{
    static const struct sc_graph_extra nothing;
    return use->extra ? sc_pool_at(&graphs->extras, use->extra) : &nothing;
}

/* Takes the extra from the pool if the use has none yet. */
struct sc_graph_extra *sc_graphs_make_extra(struct sc_graphs *graphs, struct sc_graph_use *use)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    if (!use->extra)
        use->extra = sc_pool_take(&graphs->extras);
    return use->extra ? sc_pool_at(&graphs->extras, use->extra) : NULL;
}

/* Notes that the use has the copy `saved`, or that its memory lies in a copy. */
static void retain_copy(struct sc_graphs *graphs, struct sc_graph_use *use, void *saved)
{
    struct sc_graph_extra *extra = NULL;
    if (!saved && graphs->copies.count && sc_handles_get(&graphs->copies, use->shape.address))
        saved = (void *)use->shape.address;
    if (saved)
        extra = sc_graphs_make_extra(graphs, use);
    if (!extra)
        return;
    extra->saved = saved;
    copy_header(saved)->uses++;
}

/* Frees the use's extra, and its share of a copy. */
static void free_extra(struct sc_graphs *graphs, struct sc_graph_use *use)
{
    void *saved = sc_graphs_extra(graphs, use)->saved;
    if (saved)
        release_copy(graphs, saved);
    if (use->extra)
        sc_pool_release(&graphs->extras, use->extra);
    use->extra = 0;
}

/* ---- uses ---- */

static bool is_hole(const struct sc_graph_use *use)
{
    return sc_shape_hull_bytes(&use->shape) == 0;
}

/* Frees the list. The extras of its uses are freed by free_extra. */
void sc_graph_uses_free(struct sc_graphs *graphs, struct sc_graph_uses *uses)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    sc_arena_free(&graphs->order->arena, uses->list, uses->capacity * sizeof *uses->list);
    *uses = (struct sc_graph_uses){0};
}

struct sc_graph_use *sc_graph_uses_append(struct sc_graphs *graphs, struct sc_graph_uses *uses,
                                          const struct sc_graph_use *use)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    if (uses->count == uses->capacity) {
        struct sc_graph_use *larger = sc_arena_grow(
            &graphs->order->arena, uses->list, &uses->capacity, sizeof *uses->list, CAPACITY_MIN);
        if (!larger)
            return NULL;
        uses->list = larger;
    }
    uses->list[uses->count] = *use;
    return &uses->list[uses->count++];
}

/* ---- the index ---- */

static struct sc_grid *grid_of(struct sc_graphs *graphs, const struct sc_graph_interval *interval)
{
    return interval->heap ? &graphs->heap_grid : &graphs->grid;
}

/* Does the interval contain all bytes of the use? */
static bool use_lies_within(const struct sc_graph_use *use, uintptr_t address, size_t size_bytes)
{
    return use->shape.address >= address && sc_graph_use_end(use) <= address + size_bytes;
}

/* Returns the bytes that the interval stands for. */
static struct sc_graph_bounds bounds_of(struct sc_graphs *graphs, uint32_t interval)
{
    const struct sc_grid_node *node = &sc_graphs_interval_at(graphs, interval)->node;
    return (struct sc_graph_bounds){
        atomic_load_explicit(&node->address, memory_order_relaxed),
        atomic_load_explicit(&node->size_bytes, memory_order_relaxed),
    };
}

/* Returns one of the graph's latest intervals that contains the use, or 0. */
static uint32_t find_interval(struct sc_graphs *graphs, const struct sc_graph *graph,
                              const struct sc_graph_use *use)
{
    uint32_t id = graph->first_interval;
    for (int i = 0; id && i < INTERVALS_LOOKED_AT;
         i++, id = sc_graphs_interval_at(graphs, id)->next) {
        struct sc_graph_bounds bounds = bounds_of(graphs, id);
        if (sc_graphs_interval_at(graphs, id)->heap == sc_ops_is_heap(use->kind) &&
            use_lies_within(use, bounds.address, bounds.size_bytes))
            return id;
    }
    return 0;
}

static uint32_t use_number(const struct sc_graph *graph, const struct sc_graph_use *use)
{
    return (uint32_t)(use - graph->uses.list) + 1;
}

/* Makes an interval for the use: the allocation around it if that is known, else its own bytes.
 * Returns 0 if there is no memory. */
static uint32_t make_interval(struct sc_graphs *graphs, uint32_t graph,
                              const struct sc_graph_use *use, const struct sc_graph_bounds *known)
{
    struct sc_graph_bounds bounds = {use->shape.address, sc_shape_hull_bytes(&use->shape)};
    uint32_t id = sc_pool_take(&graphs->intervals);
    if (!id)
        return 0;
    if (known && use_lies_within(use, known->address, known->size_bytes))
        bounds = *known;
    struct sc_graph_interval *interval = sc_graphs_interval_at(graphs, id);
    atomic_store_explicit(&interval->node.address, bounds.address, memory_order_release);
    atomic_store_explicit(&interval->node.size_bytes, bounds.size_bytes, memory_order_release);
    interval->heap = sc_ops_is_heap(use->kind);
    interval->graph = graph;
    interval->next = sc_graphs_at(graphs, graph)->first_interval;
    if (interval->next)
        sc_graphs_interval_at(graphs, interval->next)->previous = id;
    sc_graphs_at(graphs, graph)->first_interval = id;
    sc_grid_insert(grid_of(graphs, interval), id);
    return id;
}

/* Adds the use to the list of an interval, so that frees find it. Leaves out stacks, which nobody
 * frees, and device memory, whose frees do not search here. Returns false if there is no memory. */
static bool add_to_interval(struct sc_graphs *graphs, uint32_t id, struct sc_graph_use *use,
                            const struct sc_graph_bounds *bounds)
{
    struct sc_graph *graph = sc_graphs_at(graphs, id);
    if (sc_graph_is_of_device(use))
        use->interval_next = graph->device_added++;
    if (use->kind == SC_STACK || sc_graph_is_of_device(use))
        return true;
    use->interval = find_interval(graphs, graph, use);
    if (!use->interval)
        use->interval = make_interval(graphs, id, use, bounds);
    if (use->interval)
        sc_graph_link_interval(graphs, graph, use_number(graph, use));
    return use->interval != 0;
}

static void free_interval(struct sc_graphs *graphs, uint32_t id)
{
    sc_grid_remove(grid_of(graphs, sc_graphs_interval_at(graphs, id)), id);
    sc_pool_release(&graphs->intervals, id);
}

/* Frees all intervals of the graph. */
static void drop_intervals(struct sc_graphs *graphs, struct sc_graph *graph)
{
    while (graph->first_interval) {
        uint32_t id = graph->first_interval;
        graph->first_interval = sc_graphs_interval_at(graphs, id)->next;
        free_interval(graphs, id);
    }
}

/* Frees an interval that has no use any more. */
static void remove_interval(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t id)
{
    const struct sc_graph_interval *interval = sc_graphs_interval_at(graphs, id);
    uint32_t next = interval->next, previous = interval->previous;
    *(previous ? &sc_graphs_interval_at(graphs, previous)->next : &graph->first_interval) = next;
    if (next)
        sc_graphs_interval_at(graphs, next)->previous = previous;
    free_interval(graphs, id);
}

/* Removes the use from its interval's list, and frees the interval after its last use. */
static void remove_from_interval(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t use)
{
    uint32_t interval = sc_graph_use_at(graph, use)->interval;
    if (!interval)
        return;
    sc_graph_unlink_interval(graphs, graph, use);
    if (!sc_graphs_interval_at(graphs, interval)->first_use)
        remove_interval(graphs, graph, interval);
}

/* ---- adding ---- */

/* Does a launch wait until this target of a copy is written? Assumes, as long as nothing else is
 * known, that the source is device memory, and that the device does not use pageable memory
 * directly. */
static bool is_waited_for(const struct sc_graph_use *use)
{
    const struct sc_copy_case asked = {
        .call = SC_COPY_NODE,
        .dst = sc_copy_manner_place(use->kind),
    };
    return use->waits || (use->direction == SC_D2H && !sc_graph_is_of_device(use) &&
                          sc_copy_manner_of(&asked).waits);
}

/* Adds `one` (1 or -1) to those counts of the graph that the use belongs to. */
void sc_graph_count_use(struct sc_graph *graph, const struct sc_graph_use *use, int one)
{
    if (use->freed)
        graph->freed_count += (uint32_t)one;
    if (use->kind == SC_STACK)
        graph->stack_count += (uint32_t)one;
    if (sc_graph_is_address(use))
        graph->address_count += (uint32_t)one;
    else if (sc_graph_is_of_device(use))
        graph->device_count += (uint32_t)one;
    if (!use->disabled && is_waited_for(use))
        graph->waiting_count += (uint32_t)one;
    sc_graph_note_stale(graph);
}

/* Counts are of enabled uses, so the use is taken out of them while it changes. */
void sc_graph_enable_use(struct sc_graph *graph, struct sc_graph_use *use, bool enabled)
{
    sc_graph_count_use(graph, use, -1);
    use->disabled = !enabled;
    sc_graph_count_use(graph, use, 1);
}

/* Notes which graph has the node. Not for execs, whose nodes have the handles of a graph's. */
static void index_node(struct sc_graphs *graphs, const struct sc_graph *graph,
                       const struct sc_graph_use *use)
{
    if (use->node && !graph->is_exec)
        sc_handles_put(&graphs->by_node, use->node, graph->handle);
}

static void unindex_node(struct sc_graphs *graphs, const struct sc_graph *graph,
                         const struct sc_graph_use *use)
{
    if (use->node && sc_handles_get(&graphs->by_node, use->node) == graph->handle)
        sc_handles_remove(&graphs->by_node, use->node);
}

/* Stores the use in a hole of the list, or at its end. Returns NULL if there is no memory. */
static struct sc_graph_use *store_use(struct sc_graphs *graphs, struct sc_graph *graph,
                                      const struct sc_graph_use *use)
{
    if (!graph->first_hole) {
        if (graph->uses.count == graph->uses.capacity)
            sc_graph_links_free(graphs, graph);
        return sc_graph_uses_append(graphs, &graph->uses, use);
    }
    struct sc_graph_use *hole = sc_graph_use_at(graph, graph->first_hole);
    graph->first_hole = hole->interval_next;
    graph->hole_count--;
    *hole = *use;
    return hole;
}

/* Stores the use with its extra, counts it, and enters it into the indexes by node and by memory.
 */
bool sc_graphs_add(struct sc_graphs *graphs, uintptr_t handle, const struct sc_graph_use *use,
                   const struct sc_graph_extra *extra, const struct sc_graph_bounds *bounds)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    uint32_t id = find_or_make_graph(graphs, handle);
    struct sc_graph *graph = id ? sc_graphs_at(graphs, id) : NULL;
    if (graph && sc_graph_is_of_device(use) && !sc_graph_takes_device(graph, use))
        return true;
    struct sc_graph_use *added = graph ? store_use(graphs, graph, use) : NULL;
    if (!added)
        return false;
    added->extra = 0;
    added->interval = added->interval_next = 0;
    added->disabled |= sc_graph_is_disabled(graph, use->node) ||
                       (extra && sc_graph_is_disabled(graph, extra->inner));
    if (extra && sc_graphs_make_extra(graphs, added))
        *sc_graphs_make_extra(graphs, added) = *extra;
    retain_copy(graphs, added, extra ? extra->saved : NULL);
    sc_graph_count_use(graph, added, 1);
    index_node(graphs, graph, added);
    if (graph->links)
        sc_graph_link_node(graph, use_number(graph, added));
    bool indexed = add_to_interval(graphs, id, added, bounds);
    SC_CHECK_OF(graph->uses.count, sc_consistency_of_graph(graphs, graph));
    return indexed;
}

/* Adds copies of all uses of another graph, without their nodes' names, which belong to that graph.
 */
void sc_graphs_add_all(struct sc_graphs *graphs, uintptr_t handle, uintptr_t of)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    uint32_t from = sc_graphs_find(graphs, of);
    uint32_t count = from && handle != of ? sc_graphs_at(graphs, from)->uses.count : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct sc_graph_use use = sc_graphs_at(graphs, from)->uses.list[i];
        if (is_hole(&use))
            continue;
        struct sc_graph_extra extra = *sc_graphs_extra(graphs, &use);
        struct sc_graph_bounds bounds = {0};
        if (use.interval)
            bounds = bounds_of(graphs, use.interval);
        use.node = 0;
        sc_graphs_add(graphs, handle, &use, use.extra ? &extra : NULL, &bounds);
    }
}

/* ---- dropping ---- */

/* Takes the use out of all that refers to it, except its interval. */
static void release_use(struct sc_graphs *graphs, struct sc_graph *graph, struct sc_graph_use *use)
{
    sc_graph_count_use(graph, use, -1);
    unindex_node(graphs, graph, use);
    free_extra(graphs, use);
}

/* Drops all uses of the graph. The memory of the list stays for later uses. */
static void drop_all_uses(struct sc_graphs *graphs, struct sc_graph *graph)
{
    for (uint32_t i = 0; i < graph->uses.count; i++)
        release_use(graphs, graph, &graph->uses.list[i]);
    drop_intervals(graphs, graph);
    sc_graph_links_free(graphs, graph);
    graph->uses.count = graph->hole_count = graph->first_hole = graph->scans = 0;
}

/* Drops a use, whose place becomes a hole for a later one. If only holes are left, empties the
 * list. */
void sc_graphs_drop_use(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t use)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph_use *dropped = sc_graph_use_at(graph, use);
    release_use(graphs, graph, dropped);
    if (graph->links)
        sc_graph_unlink_node(graph, use);
    remove_from_interval(graphs, graph, use);
    *dropped = (struct sc_graph_use){.disabled = true, .interval_next = graph->first_hole};
    graph->first_hole = use;
    if (++graph->hole_count == graph->uses.count)
        drop_all_uses(graphs, graph);
    SC_CHECK_OF(graph->uses.count, sc_consistency_of_graph(graphs, graph));
}

/* Drops what is recorded of the node; node 0 stands for all nodes. */
void sc_graphs_drop_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    if (graph->is_exec)
        sc_graph_drop_events(graph, node);
    if (!node)
        drop_all_uses(graphs, graph);
    for (uint32_t use = sc_graph_first_of(graphs, graph, node); use;) {
        uint32_t next = sc_graph_next_of(graph, use);
        sc_graphs_drop_use(graphs, graph, use);
        use = next;
    }
}

/* ---- the end ---- */

/* Removes the graph from the indexes, before a call that may destroy it. Returns its id. */
uint32_t sc_graphs_detach(struct sc_graphs *graphs, uintptr_t handle)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    uint32_t id = (uint32_t)sc_handles_remove(&graphs->by_handle, handle);
    const struct sc_graph *graph = id ? sc_graphs_at(graphs, id) : NULL;
    for (uint32_t i = 0; graph && i < graph->uses.count; i++)
        unindex_node(graphs, graph, &graph->uses.list[i]);
    return id;
}

/* Adds the graph to the indexes again: the driver has refused to destroy it. */
void sc_graphs_attach(struct sc_graphs *graphs, uint32_t id)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    const struct sc_graph *graph = sc_graphs_at(graphs, id);
    sc_handles_put(&graphs->by_handle, graph->handle, id);
    for (uint32_t i = 0; i < graph->uses.count; i++)
        index_node(graphs, graph, &graph->uses.list[i]);
}

/* Stores the exec's last launch. It holds a reference to the stream's id, so that the id is not
 * used for another stream. */
void sc_graphs_set_last_launch(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t stream)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_point former = graph->exec.last_launch;
    if (stream && stream == former.stream) {
        sc_order_renew_point(graphs->order, &graph->exec.last_launch);
        return;
    }
    graph->exec.last_launch = stream ? sc_order_point(graphs->order, stream) : (struct sc_point){0};
    if (stream)
        sc_order_reference(graphs->order, stream);
    if (former.stream)
        sc_order_unreference(graphs->order, former.stream);
    sc_order_release_point(graphs->order, &former);
}

/* Frees all that the graph has, and its record. */
void sc_graphs_remove(struct sc_graphs *graphs, uint32_t id)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    SC_TRACE("graph-remove graph", id);
    struct sc_graph *graph = sc_graphs_at(graphs, id);
    for (uint32_t i = 0; i < graph->uses.count; i++)
        free_extra(graphs, &graph->uses.list[i]);
    drop_intervals(graphs, graph);
    sc_graph_links_free(graphs, graph);
    sc_graph_uses_free(graphs, &graph->uses);
    sc_graph_uses_free(graphs, &graph->exec.runs);
    sc_graph_free_nodes(graphs, graph);
    sc_watched_nodes_abandon(graphs->order, &graph->exec.watched);
    sc_graphs_set_last_launch(graphs, graph, 0);
    graphs->orphan_count -= is_orphan(graph->handle);
    sc_pool_release(&graphs->pool, id);
}

/* ---- look-ups ---- */

/* Begins after the use that was found last, since nodes are mostly asked about in their order. */
const struct sc_graph_use *sc_graphs_same_use(struct sc_graphs *graphs, uintptr_t handle,
                                              const struct sc_graph_use *use)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    const struct sc_graph_uses *uses = &graph->uses;
    uint32_t start = graph->last_found;
    for (uint32_t i = 1; i <= uses->count; i++) {
        uint32_t at = (start + i) % uses->count;
        const struct sc_graph_use *known = &uses->list[at];
        graph->last_found = at;
        if (sc_graph_uses_alike(known, use))
            return known;
    }
    return NULL;
}

static bool is_same_author(const struct sc_graph_author *a, const struct sc_graph_author *b)
{
    return a->api == b->api && a->stack == b->stack;
}

/* Returns the call that has added the node's uses. A captured node has no name, so its uses are
 * recognised by their bytes. If several calls added such uses, none is returned. */
struct sc_graph_author sc_graphs_find_author(struct sc_graphs *graphs, uintptr_t handle,
                                             uintptr_t node, const struct sc_graph_use *use)
{
    static const struct sc_graph_author unknown;
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    const struct sc_graph_use *found = NULL;
    uint32_t first = sc_graph_first_of(graphs, graph, node);
    if (first)
        return sc_graph_use_at(graph, first)->author;
    for (uint32_t i = 0; i < graph->uses.count; i++) {
        const struct sc_graph_use *known = &graph->uses.list[i];
        if (known->node || is_hole(known) || !sc_graph_uses_alike(known, use))
            continue;
        if (found && !is_same_author(&found->author, &known->author))
            return unknown;
        found = known;
    }
    return found ? found->author : unknown;
}

uintptr_t sc_graphs_find_of_node(struct sc_graphs *graphs, uintptr_t node)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    return (uintptr_t)sc_handles_get(&graphs->by_node, node);
}

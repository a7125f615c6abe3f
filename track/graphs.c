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

/* Initialises the records of graphs and execs (instantiated graphs), with indexes by handle, by
 * node, and by the host memory that nodes use. */
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

/* Returns the id of the graph or exec (instantiated graph), without the lock; 0: nothing is known
 * of it. */
uint32_t sc_graphs_find(struct sc_graphs *graphs, uintptr_t handle)
{
    return (uint32_t)sc_handles_get(&graphs->by_handle, handle);
}

/* Returns the record with this id, for callers that only read it. */
const struct sc_graph *sc_graphs_get(struct sc_graphs *graphs, uint32_t id)
{
    return sc_graphs_at(graphs, id);
}

/* Are there nodes that the program has changed and of which only the driver knows the graph
 * (orphans)? Mostly there are none, and calls that destroy graphs need not look for them. */
bool sc_graphs_have_orphans(struct sc_graphs *graphs)
{
    return graphs->orphan_count != 0;
}

/* Returns the record of the graph or exec. One of which nothing is known gets a common empty
 * record, so that callers need no case for it; they must not add to it. */
struct sc_graph *sc_graphs_find_or_empty(struct sc_graphs *graphs, uintptr_t handle)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    static struct sc_graph nothing;
    uint32_t id = sc_graphs_find(graphs, handle);
    return id ? sc_graphs_at(graphs, id) : &nothing;
}

/* Is it the handle under which a node is kept whose graph is unknown (an orphan)? Those are odd. */
static bool is_orphan(uintptr_t handle)
{
    return handle == sc_graphs_orphan(handle);
}

/* Returns the id of the graph or exec (instantiated graph), which gets a record if it has none; 0:
 * no memory. */
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

/* Makes a record of an exec (an instantiated graph). A graph and an exec have the same record; it
 * keeps runs, events and launches of an exec alone. */
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
    size_t size_bytes; /* of the whole allocation: this header and the bytes */
    _Alignas(16) uint64_t uses;
    _Alignas(16) unsigned char bytes[];
};

/* Returns the header of a copy, which lies before its bytes. */
static struct copy *copy_header(void *bytes)
{
    return (struct copy *)(void *)((char *)bytes - offsetof(struct copy, bytes));
}

/* Allocates a copy that a node is to read instead of a stack or other memory that may be gone at
 * the launch. Its header counts the uses (what one node does with one piece of memory) that have
 * it: none yet, or one for ever. */
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

/* A use of the copy is dropped: frees the copy with the last one. */
static void release_copy(struct sc_graphs *graphs, void *bytes)
{
    struct copy *copy = copy_header(bytes);
    if (--copy->uses)
        return;
    sc_handles_remove(&graphs->copies, (uintptr_t)bytes);
    sc_arena_free(&graphs->order->arena, copy, copy->size_bytes);
}

/* ---- what few uses have ---- */

/* Returns what only few uses (of memory by nodes) have (the free, the local variable, the copy);
 * zeros if the use has nothing of that. */
const struct sc_graph_extra *sc_graphs_extra(struct sc_graphs *graphs,
                                             const struct sc_graph_use *use)
{
    static const struct sc_graph_extra nothing;
    return use->extra ? sc_pool_at(&graphs->extras, use->extra) : &nothing;
}

/* Returns the part of a use (of a piece of memory by a node) that only few uses have, taken from
 * the pool if there is none yet. It is apart since captures write thousands of uses. */
struct sc_graph_extra *sc_graphs_make_extra(struct sc_graphs *graphs, struct sc_graph_use *use)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    if (!use->extra)
        use->extra = sc_pool_take(&graphs->extras);
    return use->extra ? sc_pool_at(&graphs->extras, use->extra) : NULL;
}

/* A use (of a piece of memory by a node) was added: counts it in the copy that its node reads
 * (`saved`), or in which its memory lies. The latter holds in a clone of a graph, whose nodes
 * name the copy itself. */
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

/* A use (of a piece of memory by a node) is dropped: frees what only few uses have, and its share
 * of a copy. */
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

/* Is it the empty place of a use (of a piece of memory by a node) that was dropped? Such a place
 * has no bytes; later uses are put there. */
static bool is_hole(const struct sc_graph_use *use)
{
    return sc_shape_hull_bytes(&use->shape) == 0;
}

/* Frees the list. What single uses (of memory by nodes) have besides (free_extra) is freed before.
 */
void sc_graph_uses_free(struct sc_graphs *graphs, struct sc_graph_uses *uses)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    sc_arena_free(&graphs->order->arena, uses->list, uses->capacity * sizeof *uses->list);
    *uses = (struct sc_graph_uses){0};
}

/* Appends a copy of the use (of a piece of memory by a node) to the list. NULL: no memory. The list
 * may move. */
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

/* Returns the index by address that has the interval: that of memory which free() or munmap() can
 * take away, or that of memory which only the driver frees. Each free() looks into the first one.
 */
static struct sc_grid *grid_of(struct sc_graphs *graphs, const struct sc_graph_interval *interval)
{
    return interval->heap ? &graphs->heap_grid : &graphs->grid;
}

/* Does the interval contain all bytes of the use (of a piece of memory by a node)? */
static bool use_lies_within(const struct sc_graph_use *use, uintptr_t address, size_t size_bytes)
{
    return use->shape.address >= address && sc_graph_use_end(use) <= address + size_bytes;
}

/* Returns the bytes of the interval, mostly an allocation. */
static struct sc_graph_bounds bounds_of(struct sc_graphs *graphs, uint32_t interval)
{
    const struct sc_grid_node *node = &sc_graphs_interval_at(graphs, interval)->node;
    return (struct sc_graph_bounds){
        atomic_load_explicit(&node->address, memory_order_relaxed),
        atomic_load_explicit(&node->size_bytes, memory_order_relaxed),
    };
}

/* Returns an interval (a piece of memory that the graph uses, mostly an allocation) that contains
 * the use (of a piece of memory by a node), or 0. Looks at the latest few alone: nodes that use one
 * buffer mostly follow each other, and two intervals for one buffer do no harm. */
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

/* Returns the name of a use (of a piece of memory by a node) in links: its index + 1, as 0 means
 * none. */
static uint32_t use_number(const struct sc_graph *graph, const struct sc_graph_use *use)
{
    return (uint32_t)(use - graph->uses.list) + 1;
}

/* Makes an interval for the use (of a piece of memory by a node), by which a free finds it: the
 * allocation around it if that is known, so that further uses share it, else its own bytes. Returns
 * 0 if there is no memory. */
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

/* Lists the use (of a piece of memory by a node) under its memory, so that a free there finds the
 * graph. Stacks are not listed, as nobody frees them, nor device memory, whose frees do not look
 * here; a use of that keeps instead how many came before it. Returns false if there is no memory.
 */
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

/* Takes the interval out of the index by address, and frees its record. */
static void free_interval(struct sc_graphs *graphs, uint32_t id)
{
    sc_grid_remove(grid_of(graphs, sc_graphs_interval_at(graphs, id)), id);
    sc_pool_release(&graphs->intervals, id);
}

/* Frees all intervals (pieces of memory) of the graph. */
static void drop_intervals(struct sc_graphs *graphs, struct sc_graph *graph)
{
    while (graph->first_interval) {
        uint32_t id = graph->first_interval;
        graph->first_interval = sc_graphs_interval_at(graphs, id)->next;
        free_interval(graphs, id);
    }
}

/* No use is left in the interval (a piece of memory): takes it out of the graph's list and frees
 * it. */
static void remove_interval(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t id)
{
    const struct sc_graph_interval *interval = sc_graphs_interval_at(graphs, id);
    uint32_t next = interval->next, previous = interval->previous;
    *(previous ? &sc_graphs_interval_at(graphs, previous)->next : &graph->first_interval) = next;
    if (next)
        sc_graphs_interval_at(graphs, next)->previous = previous;
    free_interval(graphs, id);
}

/* Removes the use (of a piece of memory by a node) from the list of its interval (the piece of
 * memory), and frees an interval that has no other use. Uses of stacks and of device memory are in
 * none. */
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

/* Does a launch wait until this target of a copy is written, as the driver does for pageable
 * memory? Assumes, if nothing else is known, that the source is device memory, and that the device
 * does not use pageable memory directly. */
static bool is_waited_for(const struct sc_graph_use *use)
{
    const struct sc_copy_case asked = {
        .call = SC_COPY_NODE,
        .dst = sc_copy_manner_place(use->kind),
    };
    return use->waits || (use->direction == SC_D2H && !sc_graph_is_of_device(use) &&
                          sc_copy_manner_of(&asked).waits);
}

/* A use (of a piece of memory by a node) comes (1) or goes (-1): changes the counts of the graph by
 * which launches and frees see at once that there is nothing of a kind. What launches of an exec
 * (instantiated graph) record has to be made anew. */
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

/* Counts are of enabled uses (of memory by nodes), so the use is taken out of them while it
 * changes. */
void sc_graph_enable_use(struct sc_graph *graph, struct sc_graph_use *use, bool enabled)
{
    sc_graph_count_use(graph, use, -1);
    use->disabled = !enabled;
    sc_graph_count_use(graph, use, 1);
}

/* Notes which graph has the node, for calls that name a node alone. Not for execs (instantiated
 * graphs), whose nodes have the handles of the graph's that they were made of. */
static void index_node(struct sc_graphs *graphs, const struct sc_graph *graph,
                       const struct sc_graph_use *use)
{
    if (use->node && !graph->is_exec)
        sc_handles_put(&graphs->by_node, use->node, graph->handle);
}

/* A use (of a piece of memory by a node) of the node is dropped: the node is found by its handle no
 * more, unless another graph has it by now, as a handle is given anew. */
static void unindex_node(struct sc_graphs *graphs, const struct sc_graph *graph,
                         const struct sc_graph_use *use)
{
    if (use->node && sc_handles_get(&graphs->by_node, use->node) == graph->handle)
        sc_handles_remove(&graphs->by_node, use->node);
}

/* Stores the use (of a piece of memory by a node) in the empty place of a dropped one, or at the
 * list's end. Links are made for the present list, so they are freed before it grows. Returns NULL
 * if there is no memory. */
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

/* Adds a use (what a node does with one piece of memory) to the graph. A use of device memory
 * beyond the limit is left out and no error. A use of a node that the program has disabled in the
 * exec (instantiated graph) is disabled from the start. False: no memory, so that a free may not
 * find the use. */
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

/* The graph was cloned from another one, or got it as a child: adds copies of all its uses (of
 * memory by nodes). Their nodes have other handles here, which are not known. */
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

/* A use (of a piece of memory by a node) is dropped: takes it out of the graph's counts, the index
 * by node, and its copy. Its interval is left to the caller, who may drop all at once. */
static void release_use(struct sc_graphs *graphs, struct sc_graph *graph, struct sc_graph_use *use)
{
    sc_graph_count_use(graph, use, -1);
    unindex_node(graphs, graph, use);
    free_extra(graphs, use);
}

/* Drops all uses (of memory by nodes) of the graph. The list's memory stays, as an exec
 * (instantiated graph) that is updated gets uses again at once. */
static void drop_all_uses(struct sc_graphs *graphs, struct sc_graph *graph)
{
    for (uint32_t i = 0; i < graph->uses.count; i++)
        release_use(graphs, graph, &graph->uses.list[i]);
    drop_intervals(graphs, graph);
    sc_graph_links_free(graphs, graph);
    graph->uses.count = graph->hole_count = graph->first_hole = graph->scans = 0;
}

/* Drops a use (of a piece of memory by a node). Others are named by their index, so its place stays
 * empty (a hole), and a later use is put there. A list of holes alone is emptied. */
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

/* Drops what is recorded of the node, as it is removed or changed; node 0 stands for all nodes. */
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

/* A call is about to destroy the graph, and the driver may give its handle to another one before
 * that call returns: the graph is found by the handle no more. Its memory counts as used until the
 * call has succeeded. */
uint32_t sc_graphs_detach(struct sc_graphs *graphs, uintptr_t handle)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    uint32_t id = (uint32_t)sc_handles_remove(&graphs->by_handle, handle);
    const struct sc_graph *graph = id ? sc_graphs_at(graphs, id) : NULL;
    for (uint32_t i = 0; graph && i < graph->uses.count; i++)
        unindex_node(graphs, graph, &graph->uses.list[i]);
    return id;
}

/* The driver has refused to destroy the graph: it is found by its handle again. */
void sc_graphs_attach(struct sc_graphs *graphs, uint32_t id)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    const struct sc_graph *graph = sc_graphs_at(graphs, id);
    sc_handles_put(&graphs->by_handle, graph->handle, id);
    for (uint32_t i = 0; i < graph->uses.count; i++)
        index_node(graphs, graph, &graph->uses.list[i]);
}

/* Stores the point (work issued so far) of the exec's last launch: later launches on other streams
 * come after it, as the driver runs launches of an exec (instantiated graph) one after the other.
 * It keeps its stream's id from being given to another one. Stream 0 forgets the launch. */
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

/* Frees all that the graph has, and its record, when it is destroyed. It is in no index by handle
 * any more. Host nodes that the library watches may still run, so their records end by themselves.
 */
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

/* Finds the graph's use of the same bytes. Begins after the use (of a piece of memory by a node)
 * that was found last, since nodes are mostly asked about in their order. */
const struct sc_graph_use *sc_graphs_same_use(struct sc_graphs *graphs, uintptr_t handle,
                                              const struct sc_graph_use *use)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    const struct sc_graph_uses *uses = &graph->uses;
    for (uint32_t i = 0; i < uses->count; i++) {
        uint32_t at = (graph->next_found + i) % uses->count;
        if (sc_graph_uses_alike(&uses->list[at], use)) {
            graph->next_found = at + 1;
            return &uses->list[at];
        }
    }
    return NULL;
}

/* Was a node captured, added or changed by the same call (its author): the same function at the
 * same place? */
static bool is_same_author(const struct sc_graph_author *a, const struct sc_graph_author *b)
{
    return a->api == b->api && a->stack == b->stack;
}

/* Returns the call that captured, added or changed the node, for a report. A captured node has no
 * handle here, so its use is recognised by its bytes. If several calls made such uses, none is
 * returned, as a wrong one misleads. */
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

/* Returns the graph that has the node, for calls that name a node alone; 0: not known. */
uintptr_t sc_graphs_find_of_node(struct sc_graphs *graphs, uintptr_t node)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    return (uintptr_t)sc_handles_get(&graphs->by_node, node);
}

/* Device memory of an exec besides what its nodes use of it: memory that nodes allocate and free
 * themselves, and races. */

/* Terms (docs/glossary.md):
 *   exec: an instantiated graph (CUgraphExec)
 *   unjudged: of an operation of a graph: its order cannot be seen, so nothing about it is
 *       reported
 */

#include "common/checks.h"
#include "track/graphs_internal.h"
#include "track/order.h"

#include "common/poison.h"

enum { OWN_MIN = 4 };

/* The graph ends: frees its races (nodes that use common memory without order), and the notes of
 * memory that its nodes allocate or free. */
void sc_graph_free_device(struct sc_graphs *graphs, struct sc_graph *graph)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_arena *arena = &graphs->order->arena;
    struct sc_graph_device *device = &graph->exec.device;
    sc_arena_free(arena, device->races, SC_GRAPH_RACES_MAX * sizeof *device->races);
    sc_arena_free(arena, device->own, device->own_capacity * sizeof *device->own);
    *device = (struct sc_graph_device){.own = NULL};
}

/* Returns the record of the exec (an instantiated graph), made if there is none; NULL: no memory.
 */
static struct sc_graph *find_or_make_exec(struct sc_graphs *graphs, uintptr_t handle)
{
    uint32_t id = sc_graphs_make_exec(graphs, handle);
    return id ? sc_graphs_at(graphs, id) : NULL;
}

/* ---- memory that nodes allocate or free ---- */

/* Notes memory that a node of the exec allocates or frees itself: its address means something only
 * while a launch runs. Returns false if there is no room, so that the caller gives up the exec's
 * device memory. */
bool sc_graphs_note_own_memory(struct sc_graphs *graphs, uintptr_t handle,
                               const struct sc_graph_own *own)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = find_or_make_exec(graphs, handle);
    struct sc_graph_device *device = graph ? &graph->exec.device : NULL;
    if (!device || device->own_count == SC_GRAPH_OWN_MAX)
        return false;
    if (device->own_count == device->own_capacity) {
        struct sc_graph_own *larger =
            sc_arena_grow(&graphs->order->arena, device->own, &device->own_capacity,
                          sizeof *device->own, OWN_MIN);
        if (!larger)
            return false;
        device->own = larger;
    }
    device->own[device->own_count++] = *own;
    return true;
}

/* Do the bytes overlap memory, of known size, that a node of the exec allocates or frees? Each
 * launch may have other memory there. */
static bool is_own(const struct sc_graph_device *device, uintptr_t address, size_t size_bytes)
{
    for (uint32_t i = 0; i < device->own_count; i++) {
        const struct sc_graph_own *own = &device->own[i];
        if (own->size_bytes && address < own->address + own->size_bytes &&
            own->address < address + size_bytes)
            return true;
    }
    return false;
}

/* Does a node of the exec allocate the memory that contains this address? A free of it by another
 * node then concerns nobody outside of the launch. */
static bool is_allocated_here(const struct sc_graph_device *device, uintptr_t address)
{
    for (uint32_t i = 0; i < device->own_count; i++) {
        const struct sc_graph_own *own = &device->own[i];
        if (!own->freed_by && address - own->address < own->size_bytes)
            return true;
    }
    return false;
}

/* Does the use (of a piece of memory by a node) lie in memory that a node of the exec allocates or
 * frees? */
static bool uses_own_memory(const struct sc_graph *graph, const struct sc_graph_use *use)
{
    return is_own(&graph->exec.device, use->shape.address, sc_shape_hull_bytes(&use->shape));
}

/* Does the exec keep this use of device memory? Addresses among kernels' parameters and other uses
 * have room of their own. An exec whose uses are not all known (is_left_out) keeps only frees, and
 * uses of memory that its own nodes allocate are of no interest to other work. */
bool sc_graph_takes_device(const struct sc_graph *graph, const struct sc_graph_use *use)
{
    const struct sc_graph_device *device = &graph->exec.device;
    if (sc_graph_is_address(use))
        return graph->address_count < SC_GRAPH_DEVICE_MAX;
    return graph->device_count < SC_GRAPH_DEVICE_MAX &&
           (use->direction == SC_FREE || (!device->is_left_out && !uses_own_memory(graph, use)));
}

/* Drops uses of device memory: all of them, or only those of memory that nodes of the exec allocate
 * or free. Kernels' addresses, which stand for possible uses alone, stay. */
static void drop_device_uses(struct sc_graphs *graphs, struct sc_graph *graph, bool all)
{
    for (uint32_t use = 1; use <= graph->uses.count; use++) {
        const struct sc_graph_use *dropped = sc_graph_use_at(graph, use);
        if (sc_graph_is_of_device(dropped) && !sc_graph_is_address(dropped) &&
            (all || uses_own_memory(graph, dropped)))
            sc_graphs_drop_use(graphs, graph, use);
    }
}

/* Not all uses of device memory by the exec are known. Then none is kept: those that are known, in
 * an order that is not, would accuse innocent work. */
static void leave_out_device(struct sc_graphs *graphs, struct sc_graph *graph)
{
    graph->exec.device.is_left_out = true;
    graph->exec.device.race_count = 0;
    drop_device_uses(graphs, graph, /*all*/ true);
}

/* leave_out_device for the exec of this handle, until it is made or updated anew. */
void sc_graphs_leave_out_device(struct sc_graphs *graphs, uintptr_t handle)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = find_or_make_exec(graphs, handle);
    if (graph)
        leave_out_device(graphs, graph);
}

/* A node frees memory that no node of the exec allocates, so a launch frees memory of others: adds
 * that as a use (of a piece of memory by a node) of the memory's first byte. */
static void free_as_use(struct sc_graphs *graphs, uintptr_t handle, const struct sc_graph_own *own)
{
    const struct sc_graph_use use = {
        .node = own->freed_by,
        .shape = {own->address, 1, 1, 1},
        .direction = SC_FREE,
        .kind = SC_DEVICE,
    };
    sc_graphs_add(graphs, handle, &use, NULL, NULL);
}

/* All memory that the exec's nodes allocate and free is known: drops the uses (of memory by nodes)
 * of it, since its addresses mean something else at each launch, and adds the frees of other memory
 * as uses. */
void sc_graphs_end_own_memory(struct sc_graphs *graphs, uintptr_t handle)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    const struct sc_graph_device *device = &graph->exec.device;
    /* A node frees memory of which neither the size nor the allocation is known: any use might lie
     * in it. */
    for (uint32_t i = 0; i < device->own_count; i++)
        if (!device->own[i].size_bytes && !is_own(device, device->own[i].address, 1))
            leave_out_device(graphs, graph);
    if (device->own_count)
        drop_device_uses(graphs, graph, /*all*/ false);
    for (uint32_t i = 0; i < device->own_count; i++)
        if (device->own[i].freed_by && !is_allocated_here(device, device->own[i].address))
            free_as_use(graphs, handle, &device->own[i]);
}

/* A kernel node is changed, or all are (node 0): drops the addresses that its parameters had. */
void sc_graphs_drop_addresses(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_find_or_empty(graphs, handle);
    for (uint32_t use = 1; use <= graph->uses.count; use++)
        if (sc_graph_is_address(sc_graph_use_at(graph, use)) &&
            (!node || sc_graph_use_at(graph, use)->node == node))
            sc_graphs_drop_use(graphs, graph, use);
}

/* ---- races ---- */

/* Is it a race (a common byte, no order) of the node with another one? */
static bool is_race_of(const struct sc_graph_race *race, uintptr_t node)
{
    return race->of[0].node == node || race->of[1].node == node;
}

/* The node has changed, so what raced with it may not any more: drops its races, or with node 0
 * all. */
void sc_graph_drop_races(struct sc_graph *graph, uintptr_t node)
{
    struct sc_graph_device *device = &graph->exec.device;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < device->race_count; i++)
        if (node && !is_race_of(&device->races[i], node))
            device->races[kept++] = device->races[i];
    device->race_count = kept;
}

/* Keeps a race (two nodes of the exec that use a common byte without order) until a launch reports
 * it. The list is allocated with the first one. Returns false if there is no room. */
bool sc_graphs_add_race(struct sc_graphs *graphs, uintptr_t handle,
                        const struct sc_graph_race *race)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = find_or_make_exec(graphs, handle);
    struct sc_graph_device *device = graph ? &graph->exec.device : NULL;
    if (device && !device->races)
        device->races =
            sc_arena_alloc(&graphs->order->arena, SC_GRAPH_RACES_MAX * sizeof *device->races);
    if (!device || !device->races || device->race_count == SC_GRAPH_RACES_MAX)
        return false;
    device->races[device->race_count++] = *race;
    return true;
}

/* Has the node a use of device memory that must not be judged, since a wait for a value in memory,
 * which is not seen, may order it? */
static bool has_unjudged_use(struct sc_graphs *graphs, struct sc_graph *graph, uintptr_t node)
{
    for (uint32_t use = sc_graph_first_of(graphs, graph, node); use;
         use = sc_graph_next_of(graph, use))
        if (sc_graph_is_of_device(sc_graph_use_at(graph, use)) &&
            (sc_graph_use_at(graph, use)->unsure & SC_UNSURE_UNJUDGED))
            return true;
    return false;
}

/* A launch reports the exec's races, each once. A race is left for a later launch while one of its
 * nodes is disabled, so does not run, or may be ordered by something that is not seen. */
bool sc_graphs_next_race(struct sc_graphs *graphs, uint32_t id, struct sc_graph_race *into)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    struct sc_graph *graph = sc_graphs_at(graphs, id);
    for (uint32_t i = 0; i < graph->exec.device.race_count; i++) {
        struct sc_graph_race *race = &graph->exec.device.races[i];
        uintptr_t first = race->of[0].node, second = race->of[1].node;
        if (race->is_told || sc_graph_is_disabled(graph, first) ||
            sc_graph_is_disabled(graph, second) || has_unjudged_use(graphs, graph, first) ||
            has_unjudged_use(graphs, graph, second))
            continue;
        race->is_told = true;
        *into = *race;
        return true;
    }
    return false;
}

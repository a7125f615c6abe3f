#include "interpose/graph/device_races.h"

#include <stdbool.h>

#include "common/handles.h"
#include "common/hazard_event.h"
#include "common/own_pages.h"
#include "interpose/driver/call.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/graph/node_uses.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/hazards.h"
#include "track/conflicts.h"
#include "track/graph_records.h"
#include "track/graphs.h"
#include "track/op_info.h"
#include "track/track.h"
#include "track/track_graphs.h"

#include "common/poison.h"

/* Larger execs are not searched. */
enum {
    USES_MAX = 1024,
    ROWS_MAX_BYTES = 8 << 20,
    /* Rounds over all nodes. One is enough if nodes come after those that they depend on. */
    ROUNDS_MAX = 64,
    WORD_BITS = 64,
};

struct use { /* one node's use of device memory */
    const struct sc_graph_use *is;
    struct sc_op_info op; /* the operation that the use is, for the comparison with others */
};

/* The search for races in one exec. A place is a node's index in `nodes`. */
struct search {
    const struct sc_graph *exec;
    uintptr_t graph;
    const CUgraphNode *nodes;
    uint32_t count;
    uint32_t use_count;
    struct use *uses;
    uint32_t *node_of;   /* the place of each use's node; `count`: the node is not known */
    sc_name_of *name_of; /* the exec's name of a node, with `context` */
    const void *context;
    struct sc_handles by_name; /* these names -> place + 1 */
    uint64_t *rows; /* a row for each node: a bit for each use of the node or of a node before it */
    uint32_t row_words;
    CUgraphNode *found; /* what one question to the driver has found */
};

/* Do two uses of device memory by different nodes share a byte that one of them writes? Then they
 * race, unless an edge orders their nodes. */
static bool are_in_conflict(const struct use *a, const struct use *b)
{
    return a->is->node != b->is->node && sc_conflicts_share_written_byte(&a->op, &b->op);
}

/* Are any two uses in conflict? In most graphs none are, and then the driver need not be asked for
 * the edges, which takes long. */
static bool has_any_conflict(const struct search *search)
{
    for (uint32_t i = 0; i < search->use_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (are_in_conflict(&search->uses[k], &search->uses[i]))
                return true;
    return false;
}

/* ---- what stands before each node ---- */

/* Returns the node's row: a bit for each use of the node itself or of a node before it. */
static uint64_t *uses_before(const struct search *search, uint32_t node)
{
    return search->rows + (size_t)node * search->row_words;
}

static bool has_bit(const uint64_t *row, uint32_t use)
{
    return row[use / WORD_BITS] >> use % WORD_BITS & 1;
}

/* Adds the bits of `before`, the row of an earlier node, to a node's row. Returns whether the row
 * has changed: then the rows of later nodes may change, too. */
static bool add_bits(uint64_t *row, const uint64_t *before, uint32_t words)
{
    bool changed = false;
    for (uint32_t i = 0; i < words; i++) {
        changed |= (before[i] & ~row[i]) != 0;
        row[i] |= before[i];
    }
    return changed;
}

/* Returns the index of a node in `nodes` plus 1; 0: the driver has named a node that the list does
 * not have. */
static uint64_t place_of(struct search *search, CUgraphNode node)
{
    return sc_handles_get(&search->by_name, search->name_of(search->context, node));
}

/* Adds to the node's row the rows of the nodes on which it depends directly. Sets *changed if that
 * changed the row. Returns false if the driver does not tell all those nodes: a race would be
 * reported where an unknown edge gives the order. */
static bool add_uses_before(struct search *search, uint32_t node, bool *changed)
{
    size_t count = search->count;
    if (!sc_driver_nodes_next_to(search->nodes[node], SC_WAY_BEFORE, search->found, &count))
        return false;
    for (size_t i = 0; i < count && i < search->count; i++) {
        uint64_t place = place_of(search, search->found[i]);
        if (place)
            *changed |= add_bits(uses_before(search, node),
                                 uses_before(search, (uint32_t)place - 1), search->row_words);
    }
    return count <= search->count;
}

/* Finds for each node all uses that come before it: copies bits along the edges, over and over,
 * until no row changes. One round is enough where the driver lists nodes in the order of their
 * edges. Returns false if it takes more than ROUNDS_MAX rounds, or an edge is not known. */
static bool find_uses_before(struct search *search)
{
    bool changed = true, is_known = true;
    /* A node's own uses are in its row, for the rows of the nodes behind it. */
    for (uint32_t i = 0; i < search->use_count; i++)
        if (search->node_of[i] < search->count)
            uses_before(search, search->node_of[i])[i / WORD_BITS] |= (uint64_t)1 << i % WORD_BITS;
    for (unsigned round = 0; changed && is_known && round < ROUNDS_MAX; round++) {
        changed = false;
        for (uint32_t node = 0; is_known && node < search->count; node++)
            is_known = add_uses_before(search, node, &changed);
    }
    return is_known && !changed;
}

/* ---- the races ---- */

/* Does one of the two uses come before the other, by edges? A use whose node is not in the list
 * counts as ordered, so that nothing is reported without proof. */
static bool are_ordered(const struct search *search, uint32_t a, uint32_t b)
{
    uint32_t node_a = search->node_of[a], node_b = search->node_of[b];
    return node_a == search->count || node_b == search->count ||
           has_bit(uses_before(search, node_b), a) || has_bit(uses_before(search, node_a), b);
}

/* Finds the call that added the node by a use of host memory that the node has besides, since such
 * uses keep their author. `made`: the call that made the exec. It stands in such a use where the
 * true author was not known, and is no answer. `api` of the result is NULL if none is found. */
static struct sc_graph_author author_by_host(const struct search *search, uintptr_t name,
                                             const struct sc_hazard_event *made)
{
    const struct sc_graph_uses *uses = &search->exec->uses;
    for (uint32_t i = 0; i < uses->count; i++) {
        const struct sc_graph_author *author = &uses->list[i].author;
        bool is_known = author->api != made->api || author->stack != made->stack;
        if (uses->list[i].node == name && author->api && is_known)
            return *author;
    }
    return (struct sc_graph_author){.api = NULL};
}

/* Returns a copy of the use for the report, with the call that added its node (the author), if that
 * is known. */
static struct sc_graph_use copy_with_author(const struct search *search, uint32_t at,
                                            const struct sc_hazard_event *made)
{
    struct sc_graph_use use = *search->uses[at].is;
    uintptr_t node = (uintptr_t)search->nodes[search->node_of[at]];
    use.author = SC_TRACKED(sc_graphs_find_author(track.graphs, search->graph, node, &use));
    if (!use.author.api)
        use.author = author_by_host(search, use.node, made);
    return use;
}

/* Notes each pair of uses that are in conflict and not ordered, until the tracker has no more room.
 * The call that made the exec, with its stack, is taken at the first race, since a stack takes
 * time. */
static void note_races(const struct search *search, const struct sc_call *call)
{
    struct sc_graph_race race = {.made.api = NULL};
    bool has_room = true;
    for (uint32_t i = 0; has_room && i < search->use_count; i++)
        for (uint32_t k = 0; has_room && k < i; k++) {
            if (!are_in_conflict(&search->uses[k], &search->uses[i]) || are_ordered(search, k, i))
                continue;
            if (!race.made.api)
                race.made = sc_hazards_event(SC_CULPRIT_OF(call));
            race.of[0] = copy_with_author(search, k, &race.made);
            race.of[1] = copy_with_author(search, i, &race.made);
            has_room = SC_TRACKED(sc_graphs_add_race(track.graphs, search->exec->handle, &race));
        }
}

/* ---- the memory for it ---- */

/* Fills the table from nodes' names to their indices, and stores the index of each use's node.
 * Returns false if there is no memory. */
static bool index_nodes(struct search *search)
{
    bool named = true;
    for (uint32_t i = 0; named && i < search->count; i++)
        named = sc_handles_put(&search->by_name, search->name_of(search->context, search->nodes[i]),
                               i + 1) == 0;
    for (uint32_t i = 0; named && i < search->use_count; i++) {
        uint64_t place = sc_handles_get(&search->by_name, search->uses[i].is->node);
        search->node_of[i] = place ? (uint32_t)place - 1 : search->count;
    }
    return named;
}

/* Maps memory for the tables and for the driver's answers, in one piece, and searches for races.
 * Finds nothing if the rows would need more than ROWS_MAX_BYTES, or there is no memory. */
static void search_with_tables(struct search *search, const struct sc_call *call)
{
    search->row_words = (search->use_count + WORD_BITS - 1) / WORD_BITS;
    size_t rows_bytes = (size_t)search->count * search->row_words * sizeof *search->rows;
    size_t found_bytes = search->count * sizeof *search->found;
    size_t size_bytes = rows_bytes + found_bytes + USES_MAX * sizeof *search->node_of;
    char *pages = rows_bytes <= ROWS_MAX_BYTES ? sc_pages_map(size_bytes) : NULL;
    if (!pages)
        return;
    search->rows = (uint64_t *)(void *)pages;
    search->found = (CUgraphNode *)(void *)(pages + rows_bytes);
    search->node_of = (uint32_t *)(void *)(pages + rows_bytes + found_bytes);
    if (sc_handles_init(&search->by_name) == 0) {
        if (index_nodes(search) && find_uses_before(search))
            note_races(search, call);
        sc_handles_destroy(&search->by_name);
    }
    sc_pages_unmap(pages, size_bytes);
}

/* Collects the exec's uses of device memory. The addresses among kernels' parameters are left out:
 * a kernel need not use them, so two of them prove no race. */
static void collect_uses(struct search *search)
{
    const struct sc_graph_uses *uses = &search->exec->uses;
    for (uint32_t i = 0; i < uses->count; i++) {
        const struct sc_graph_use *use = &uses->list[i];
        if (sc_graph_is_of_device(use) && !sc_graph_is_address(use))
            search->uses[search->use_count++] = (struct use){
                use,
                {.shape = use->shape,
                 .fold = sc_track_graph_extra(&sc_track, use)->fold,
                 .direction = use->direction,
                 .kind = use->kind,
                 .reads_device = use->reads_device},
            };
    }
}

/* Called when an exec was made or updated: finds nodes that use the same device memory and that no
 * path of edges orders. They race in every launch. Searches no exec with fewer than two uses of
 * device memory, or with more than USES_MAX of them. */
void sc_device_races_find(const struct sc_graph_call *made, CUgraph graph, const CUgraphNode *nodes,
                          size_t count, sc_name_of *name_of, const void *context)
{
    uint32_t exec;
    struct search search = {.exec = sc_track_graph(&sc_track, made->graph, &exec),
                            .graph = (uintptr_t)graph,
                            .nodes = nodes,
                            .count = (uint32_t)count,
                            .name_of = name_of,
                            .context = context};
    size_t size_bytes = USES_MAX * sizeof *search.uses;
    /* The first test is for more nodes than 32 bits can count. */
    if (count != search.count || !search.exec || search.exec->device_count < 2 ||
        search.exec->device_count > USES_MAX)
        return;
    search.uses = sc_pages_map(size_bytes);
    if (!search.uses)
        return;
    collect_uses(&search);
    if (has_any_conflict(&search))
        search_with_tables(&search, made->by);
    sc_pages_unmap(search.uses, size_bytes);
}

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

enum {
    USES_MAX = 1024,
    ROWS_MAX_BYTES = 8 << 20,
    ROUNDS_MAX = 64, /* one is enough where nodes stand behind those that they depend on */
    WORD_BITS = 64,
};

struct use {
    const struct sc_graph_use *is;
    struct sc_op_info op; /* as which it is held against others */
};

struct finding {
    const struct sc_graph *exec;
    uintptr_t graph;
    const CUgraphNode *nodes;
    uint32_t count;
    uint32_t use_count;
    struct use *uses;
    uint32_t *node_of;         /* of each use: the place of its node; the count: none is known */
    struct sc_handles by_node; /* -> place + 1 */
    struct sc_handles by_name; /* the same */
    uint64_t *rows;            /* of each node: a bit for each use of the nodes before it */
    uint32_t row_words;
    CUgraphNode *found; /* by one question to the driver */
};

static bool conflict(const struct use *a, const struct use *b)
{
    return a->is->node != b->is->node && sc_conflicts_clash(&a->op, &b->op);
}

/* Most graphs have none. */
static bool has_conflict(const struct finding *finding)
{
    for (uint32_t i = 0; i < finding->use_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (conflict(&finding->uses[k], &finding->uses[i]))
                return true;
    return false;
}

/* ---- what stands before each node ---- */

static uint64_t *row_of(const struct finding *finding, uint32_t node)
{
    return finding->rows + (size_t)node * finding->row_words;
}

static bool has_bit(const uint64_t *row, uint32_t use)
{
    return row[use / WORD_BITS] >> use % WORD_BITS & 1;
}

static bool join(uint64_t *row, const uint64_t *before, uint32_t words)
{
    bool changed = false;
    for (uint32_t i = 0; i < words; i++) {
        changed |= (before[i] & ~row[i]) != 0;
        row[i] |= before[i];
    }
    return changed;
}

/* False: nobody knows what is before the node. */
static bool join_before(struct finding *finding, uint32_t node, bool *changed)
{
    size_t count = finding->count;
    if (!sc_driver_nodes_ask_next_to(finding->nodes[node], SC_WAY_BEFORE, finding->found, &count))
        return false;
    for (size_t i = 0; i < count && i < finding->count; i++) {
        uint64_t place = sc_handles_get(&finding->by_node, (uintptr_t)finding->found[i]);
        if (place)
            *changed |= join(row_of(finding, node), row_of(finding, (uint32_t)place - 1),
                             finding->row_words);
    }
    return count <= finding->count;
}

/* False: it takes too long, or cannot be known. */
static bool find_before(struct finding *finding)
{
    bool changed = true, is_known = true;
    /* The uses of a node are before it, too. */
    for (uint32_t i = 0; i < finding->use_count; i++)
        if (finding->node_of[i] < finding->count)
            row_of(finding, finding->node_of[i])[i / WORD_BITS] |= (uint64_t)1 << i % WORD_BITS;
    for (unsigned round = 0; changed && is_known && round < ROUNDS_MAX; round++) {
        changed = false;
        for (uint32_t node = 0; is_known && node < finding->count; node++)
            is_known = join_before(finding, node, &changed);
    }
    return is_known && !changed;
}

/* ---- the races ---- */

static bool is_ordered(const struct finding *finding, uint32_t a, uint32_t b)
{
    uint32_t node_a = finding->node_of[a], node_b = finding->node_of[b];
    return node_a == finding->count || node_b == finding->count ||
           has_bit(row_of(finding, node_b), a) || has_bit(row_of(finding, node_a), b);
}

/* The author of a node that also uses host memory is known with that memory. Any other node has the
 * call that made the exec for its author. */
static struct sc_graph_author author_by_host(const struct finding *finding, uintptr_t name,
                                             const struct sc_hazard_event *made)
{
    const struct sc_graph_uses *uses = &finding->exec->uses;
    for (uint32_t i = 0; i < uses->count; i++) {
        const struct sc_graph_author *author = &uses->list[i].author;
        bool is_known = author->api != made->api || author->stack != made->stack;
        if (uses->list[i].node == name && author->api && is_known)
            return *author;
    }
    return (struct sc_graph_author){.api = NULL};
}

static struct sc_graph_use with_author(const struct finding *finding, uint32_t at,
                                       const struct sc_hazard_event *made)
{
    struct sc_graph_use use = *finding->uses[at].is;
    uintptr_t node = (uintptr_t)finding->nodes[finding->node_of[at]];
    use.author = SC_TRACKED(sc_graphs_author(track.graphs, finding->graph, node, &use));
    if (!use.author.api)
        use.author = author_by_host(finding, use.node, made);
    return use;
}

static void note_races(const struct finding *finding, const struct sc_call *call)
{
    struct sc_graph_race race = {.made.api = NULL};
    bool has_room = true;
    for (uint32_t i = 0; has_room && i < finding->use_count; i++)
        for (uint32_t k = 0; has_room && k < i; k++) {
            if (!conflict(&finding->uses[k], &finding->uses[i]) || is_ordered(finding, k, i))
                continue;
            if (!race.made.api)
                race.made = sc_hazards_event(SC_CULPRIT_OF(call));
            race.of[0] = with_author(finding, k, &race.made);
            race.of[1] = with_author(finding, i, &race.made);
            has_room = SC_TRACKED(sc_graphs_add_race(track.graphs, finding->exec->handle, &race));
        }
}

/* ---- the memory for it ---- */

static bool name_nodes(struct finding *finding, sc_name_of *name_of, const void *context)
{
    bool named = true;
    for (uint32_t i = 0; named && i < finding->count; i++)
        named = sc_handles_put(&finding->by_node, (uintptr_t)finding->nodes[i], i + 1) == 0 &&
                sc_handles_put(&finding->by_name, name_of(context, finding->nodes[i]), i + 1) == 0;
    for (uint32_t i = 0; named && i < finding->use_count; i++) {
        uint64_t place = sc_handles_get(&finding->by_name, finding->uses[i].is->node);
        finding->node_of[i] = place ? (uint32_t)place - 1 : finding->count;
    }
    return named;
}

static void find_in(struct finding *finding, const struct sc_call *call, sc_name_of *name_of,
                    const void *context)
{
    if (name_nodes(finding, name_of, context) && find_before(finding))
        note_races(finding, call);
}

static void find_with_tables(struct finding *finding, const struct sc_call *call,
                             sc_name_of *name_of, const void *context)
{
    if (sc_handles_init(&finding->by_node) != 0)
        return;
    if (sc_handles_init(&finding->by_name) == 0) {
        find_in(finding, call, name_of, context);
        sc_handles_destroy(&finding->by_name);
    }
    sc_handles_destroy(&finding->by_node);
}

/* Rows, what the driver finds, and places of nodes, in one piece. */
static void find_in_pages(struct finding *finding, const struct sc_call *call, sc_name_of *name_of,
                          const void *context)
{
    finding->row_words = (finding->use_count + WORD_BITS - 1) / WORD_BITS;
    size_t rows_bytes = (size_t)finding->count * finding->row_words * sizeof *finding->rows;
    size_t found_bytes = finding->count * sizeof *finding->found;
    size_t size_bytes = rows_bytes + found_bytes + USES_MAX * sizeof *finding->node_of;
    char *pages = rows_bytes <= ROWS_MAX_BYTES ? sc_pages_map(size_bytes) : NULL;
    if (!pages)
        return;
    finding->rows = (uint64_t *)(void *)pages;
    finding->found = (CUgraphNode *)(void *)(pages + rows_bytes);
    finding->node_of = (uint32_t *)(void *)(pages + rows_bytes + found_bytes);
    find_with_tables(finding, call, name_of, context);
    sc_pages_unmap(pages, size_bytes);
}

static void collect(struct finding *finding)
{
    const struct sc_graph_uses *uses = &finding->exec->uses;
    for (uint32_t i = 0; i < uses->count; i++) {
        const struct sc_graph_use *use = &uses->list[i];
        if (sc_graph_is_of_device(use) && !sc_graph_is_address(use))
            finding->uses[finding->use_count++] = (struct use){
                use,
                {.shape = use->shape,
                 .fold = sc_track_graph_extra(&sc_track, use)->fold,
                 .direction = use->direction,
                 .kind = use->kind,
                 .reads_device = use->reads_device},
            };
    }
}

void sc_device_races_find(const struct sc_graph_call *made, CUgraph graph, const CUgraphNode *nodes,
                          size_t count, sc_name_of *name_of, const void *context)
{
    uint32_t exec;
    struct finding finding = {.exec = sc_track_graph(&sc_track, made->graph, &exec),
                              .graph = (uintptr_t)graph,
                              .nodes = nodes,
                              .count = (uint32_t)count};
    size_t size_bytes = USES_MAX * sizeof *finding.uses;
    if (count != finding.count || !finding.exec || finding.exec->device_count < 2 ||
        finding.exec->device_count > USES_MAX)
        return;
    finding.uses = sc_pages_map(size_bytes);
    if (!finding.uses)
        return;
    collect(&finding);
    if (has_conflict(&finding))
        find_in_pages(&finding, made->by, name_of, context);
    sc_pages_unmap(finding.uses, size_bytes);
}

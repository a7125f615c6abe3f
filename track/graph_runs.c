/* Runs: the memory of an exec as a launch uses it, in pieces as large as there are. */
#include "track/checks.h"
#include "track/graphs_internal.h"

#include "track/poison.h"

/* What no node tells of comes last. */
static uint32_t step_of(const struct sc_graph_use *use)
{
    return use->told ? use->told : SC_TOLD_MAX + 1;
}

static bool comes_before(const struct sc_graph_use *a, const struct sc_graph_use *b)
{
    if (a->told != b->told)
        return step_of(a) < step_of(b);
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
           earlier->range == use->range && earlier->unsure == use->unsure &&
           earlier->told == use->told && earlier->freed == use->freed &&
           earlier->in_call == use->in_call && earlier->shape.rows == 1 && use->shape.rows == 1 &&
           use->shape.address <= sc_graph_use_end(earlier);
}

static void extend(struct sc_graph_use *earlier, const struct sc_graph_use *use)
{
    if (sc_graph_use_end(use) > sc_graph_use_end(earlier))
        earlier->shape.width_bytes = sc_graph_use_end(use) - earlier->shape.address;
    earlier->shape.pitch_bytes = earlier->shape.width_bytes;
}

/* Neighbours in the order of the list first, so that little is left to sort. */
static void append_run(struct sc_graphs *graphs, struct sc_graph_uses *runs,
                       const struct sc_graph_use *use)
{
    struct sc_graph_use *last = runs->count ? &runs->list[runs->count - 1] : NULL;
    if (last && last->shape.address <= use->shape.address && continues(last, use))
        extend(last, use);
    else
        sc_graph_uses_append(graphs, runs, use);
}

/* ---- what events stand for ---- */

/* The least step that a node tells of which records this event, plus 1; 0: none does. */
static void find_least(const struct sc_graph_events *events, struct sc_handles *least)
{
    for (uint32_t i = 0; i < events->count; i++) {
        const struct sc_graph_event *event = &events->list[i];
        uint64_t known = sc_handles_get(least, event->event);
        if (!event->waits && (!known || known > event->tells + 1u))
            sc_handles_put(least, event->event, event->tells + 1u);
    }
}

/* Returns the steps, as bits, of which an event tells that does not stand for them. Without memory
 * that is any, and no event stands for anything. */
static uint32_t find_stands(struct sc_graph_events *events)
{
    struct sc_handles least;
    uint32_t unsure = 0;
    if (!events->records)
        return 0;
    bool known = sc_handles_init(&least) == 0;
    if (known)
        find_least(events, &least);
    for (uint32_t i = 0; i < events->count; i++) {
        struct sc_graph_event *event = &events->list[i];
        uint64_t stands = known && !event->waits ? sc_handles_get(&least, event->event) : 0;
        event->stands = stands ? (uint8_t)(stands - 1) : 0;
        for (unsigned step = event->stands + 1u; step <= event->tells; step++)
            unsure |= 1u << step;
    }
    if (known)
        sc_handles_destroy(&least);
    return unsure;
}

/* ---- the runs ---- */

static void append_use(struct sc_graphs *graphs, struct sc_graph_uses *runs,
                       const struct sc_graph_use *use, uint32_t unsure)
{
    struct sc_graph_use appended = *use;
    if (unsure >> use->told & 1)
        appended.unsure |= SC_UNSURE_UNJUDGED;
    append_run(graphs, runs, &appended);
}

void sc_graphs_make_runs(struct sc_graphs *graphs, uintptr_t handle)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    uint32_t id = sc_graphs_find(graphs, handle);
    if (!id)
        return;
    struct sc_graph *graph = sc_graphs_at(graphs, id);
    struct sc_graph_uses runs = {0};
    uint32_t unsure = find_stands(&graph->exec.events);
    graph->exec.device.unsure = unsure;
    for (uint32_t i = 0; i < graph->uses.count; i++)
        if (!graph->uses.list[i].disabled && graph->uses.list[i].kind != SC_STACK)
            append_use(graphs, &runs, &graph->uses.list[i], unsure);
    sort(runs.list, runs.count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < runs.count; i++) {
        if (kept && continues(&runs.list[kept - 1], &runs.list[i]))
            extend(&runs.list[kept - 1], &runs.list[i]);
        else
            runs.list[kept++] = runs.list[i];
    }
    runs.count = kept;
    sc_graph_uses_give(graphs, &graph->exec.runs);
    graph->exec.runs = runs;
    graph->is_exec = true;
    graph->exec.is_stale = false;
}

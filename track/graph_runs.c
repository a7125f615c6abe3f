/* Makes runs: the memory of an exec (an instantiated graph) as its launches record it. Uses of
 * adjoining host memory are joined, so that a launch of a thousand nodes records a few operations.
 */

/* Terms (docs/glossary.md):
 *   exec: an instantiated graph (CUgraphExec)
 *   run: adjoining uses of an exec, recorded as one operation
 *   stage: the part of a graph's nodes that one notifier tells the host of
 *   unjudged: of an operation of a graph: its order cannot be seen, so nothing about it is
 *       reported
 */

#include "common/checks.h"
#include "track/graphs_internal.h"
#include "track/ordering.h"
#include "track/stages.h"

#include "common/poison.h"

enum sort { OF_HOST, OF_DEVICE, ADDRESS };

/* Tells which part of the list of runs the use (of a piece of memory by a node) belongs to: host
 * memory, device memory, or addresses among kernels' parameters, which only may be used. */
static enum sort memory_sort(const struct sc_graph_use *use)
{
    if (sc_graph_is_address(use))
        return ADDRESS;
    return sc_graph_is_of_device(use) ? OF_DEVICE : OF_HOST;
}

/* Returns the place of the use's stage (the nodes whose end one node tells the host of) in the
 * order of runs: operations get numbers in this order, and what no node tells of comes last. */
static uint32_t stage_order(const struct sc_graph_use *use)
{
    return use->stage ? use->stage : SC_STAGES_MAX + 1;
}

/* Sorts runs (adjoining uses, joined) on device memory as their uses were added, and those on host
 * memory by stage (the work of whose end one node tells the host), direction and address, so that
 * runs that can be joined stand together. */
static bool comes_before(const struct sc_graph_use *a, const struct sc_graph_use *b)
{
    if (memory_sort(a) == OF_DEVICE)
        return a->interval_next < b->interval_next;
    if (a->stage != b->stage)
        return stage_order(a) < stage_order(b);
    return a->direction != b->direction ? a->direction < b->direction
                                        : a->shape.address < b->shape.address;
}

/* Moves the use (of a piece of memory by a node) at `root` down until neither of its children is
 * larger: one step of a heap sort. */
static void sift_down_run(struct sc_graph_use *list, uint32_t root, uint32_t count)
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

/* Sorts the runs (adjoining uses, joined) from index `first` on, by a heap sort: qsort may call
 * malloc, which is not allowed under the tracker's lock. Most programs' runs are sorted already,
 * which is found first. */
static void sort_runs_from(const struct sc_graph_uses *runs, uint32_t first)
{
    struct sc_graph_use *list = first < runs->count ? &runs->list[first] : NULL;
    uint32_t count = runs->count - first, ordered = 1;
    while (ordered < count && !comes_before(&list[ordered], &list[ordered - 1]))
        ordered++;
    if (ordered >= count)
        return;
    for (uint32_t i = count / 2; i > 0; i--)
        sift_down_run(list, i - 1, count);
    for (uint32_t last = count - 1; last > 0; last--) {
        struct sc_graph_use largest = list[0];
        list[0] = list[last];
        list[last] = largest;
        sift_down_run(list, 0, last);
    }
}

/* Can `use` be joined to the earlier run (adjoining uses, joined): does it agree in everything but
 * the bytes, and adjoin or overlap? Shapes with gaps between rows are not joined. */
static bool continues_run(const struct sc_graph_use *earlier, const struct sc_graph_use *use)
{
    return earlier->direction == use->direction && earlier->kind == use->kind &&
           earlier->range == use->range && earlier->unsure == use->unsure &&
           earlier->stage == use->stage && earlier->freed == use->freed &&
           earlier->in_call == use->in_call && earlier->shape.rows == 1 && use->shape.rows == 1 &&
           use->shape.address <= sc_graph_use_end(earlier);
}

/* Makes the run (adjoining uses, joined) reach to the end of the use (of a piece of memory by a
 * node), which adjoins or overlaps it. */
static void extend_run(struct sc_graph_use *earlier, const struct sc_graph_use *use)
{
    if (sc_graph_use_end(use) > sc_graph_use_end(earlier))
        earlier->shape.width_bytes = sc_graph_use_end(use) - earlier->shape.address;
    earlier->shape.pitch_bytes = earlier->shape.width_bytes;
}

/* Appends the use (of a piece of memory by a node) as a run (adjoining uses, joined) of its own, or
 * extends the last run by it. Nodes mostly use one piece after the other, so that little is left to
 * sort. */
static void append_run(struct sc_graphs *graphs, struct sc_graph_uses *runs,
                       const struct sc_graph_use *use)
{
    struct sc_graph_use *last = runs->count ? &runs->list[runs->count - 1] : NULL;
    if (last && last->shape.address <= use->shape.address && continues_run(last, use))
        extend_run(last, use);
    else
        sc_graph_uses_append(graphs, runs, use);
}

/* ---- what events stand for ---- */

/* Stores for each recorded event the lowest stage that the nodes which record it tell the host of,
 * plus 1. If several nodes record one event, it is not known which record the host has waited for,
 * so only that stage is known done. */
static void find_least_stages(const struct sc_graph_events *events, struct sc_handles *least)
{
    for (uint32_t i = 0; i < events->count; i++) {
        const struct sc_graph_event *event = &events->list[i];
        uint64_t known = sc_handles_get(least, event->event);
        if (!event->waits && (!known || known > event->tells + 1u))
            sc_handles_put(least, event->event, event->tells + 1u);
    }
}

/* Sets up to which stage each event tells the host that work is done: the lowest of all nodes that
 * record it. Returns, as bits, the higher stages of these nodes, whose uses must not be judged: the
 * host may know them to be done, and may not. Without memory these are all stages. */
static uint32_t set_stages_of_events(struct sc_graph_events *events)
{
    struct sc_handles least;
    uint32_t unsure = 0;
    if (!events->records)
        return 0;
    bool known = sc_handles_init(&least) == 0;
    if (known)
        find_least_stages(events, &least);
    for (uint32_t i = 0; i < events->count; i++) {
        struct sc_graph_event *event = &events->list[i];
        uint64_t stands = known && !event->waits ? sc_handles_get(&least, event->event) : 0;
        event->stands = stands ? (uint8_t)(stands - 1) : 0;
        for (unsigned stage = event->stands + 1u; stage <= event->tells; stage++)
            unsure |= 1u << stage;
    }
    if (known)
        sc_handles_destroy(&least);
    return unsure;
}

/* ---- the runs ---- */

/* Appends the enabled uses (of memory by nodes) of one sort of memory. Stacks are left out: frames
 * return before a launch ends, and are judged elsewhere. `unsure`: stages (the work of whose end
 * one node tells the host), as bits, of which nobody can tell whether the host knows of their end;
 * their uses are not judged. */
static void append_uses(struct sc_graphs *graphs, struct sc_graph_uses *runs,
                        const struct sc_graph_uses *uses, enum sort sort, uint32_t unsure)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        struct sc_graph_use use = uses->list[i];
        if (use.disabled || use.kind == SC_STACK || memory_sort(&use) != sort)
            continue;
        if (unsure >> use.stage & 1)
            use.unsure |= SC_UNSURE_UNJUDGED;
        if (sort == OF_HOST)
            append_run(graphs, runs, &use);
        else
            sc_graph_uses_append(graphs, runs, &use);
    }
}

/* Makes the runs (adjoining uses, joined) on host memory: appends the uses (of memory by nodes),
 * sorts them, and joins those that adjoin. */
static void make_host_runs(struct sc_graphs *graphs, struct sc_graph_uses *runs,
                           const struct sc_graph_uses *uses, uint32_t unsure)
{
    uint32_t kept = 0;
    append_uses(graphs, runs, uses, OF_HOST, unsure);
    sort_runs_from(runs, 0);
    for (uint32_t i = 0; i < runs->count; i++) {
        if (kept && continues_run(&runs->list[kept - 1], &runs->list[i]))
            extend_run(&runs->list[kept - 1], &runs->list[i]);
        else
            runs->list[kept++] = runs->list[i];
    }
    runs->count = kept;
}

/* Appends the addresses among kernels' parameters, sorted, each once, however many kernels have it.
 */
static void append_addresses(struct sc_graphs *graphs, struct sc_graph_uses *runs,
                             const struct sc_graph_uses *uses)
{
    uint32_t first = runs->count, kept = first;
    append_uses(graphs, runs, uses, ADDRESS, 0);
    sort_runs_from(runs, first);
    for (uint32_t i = first; i < runs->count; i++)
        if (kept == first || runs->list[i].shape.address != runs->list[kept - 1].shape.address)
            runs->list[kept++] = runs->list[i];
    runs->count = kept;
}

/* Returns the stages (the work of whose end one node tells the host), as bits, of the runs
 * (adjoining uses, joined) from index `first` on, so that a launch can skip stages that have none.
 */
static uint32_t stages_of(const struct sc_graph_uses *runs, uint32_t first)
{
    uint32_t stages = 0;
    for (uint32_t i = first; i < runs->count; i++)
        stages |= 1u << runs->list[i].stage;
    return stages;
}

/* Is the run (adjoining uses, joined) one of those that the caller asks for (`which`)? One of
 * unknown order never is: nothing about it may be reported. Order is less sure for what was issued
 * (recorded after a launch) than for what is about to be. */
bool sc_graphs_run_is_selected(const struct sc_graph_use *run, int which)
{
    bool is_noted = which >= 0 || which == SC_RUNS_IN_FLIGHT;
    bool is_gated = run->unsure & SC_UNSURE_GATED;
    if (sc_ordering_of(run->unsure, is_noted ? SC_AS_EARLIER : SC_AS_LATER) == SC_ORDER_UNKNOWN)
        return false;
    if (which >= 0)
        return run->stage == which;
    return which == SC_RUNS_GATED ? is_gated : which != SC_RUNS_FREE || !is_gated;
}

/* Makes what launches of the exec record, in one list: runs of host memory, of device memory, and
 * addresses of kernels. Called when all uses (of memory by nodes) are known, or when they have
 * changed. */
void sc_graphs_make_runs(struct sc_graphs *graphs, uintptr_t handle)
{
    SC_ASSERT_GUARDED(&graphs->pool);
    uint32_t id = sc_graphs_find(graphs, handle);
    if (!id)
        return;
    struct sc_graph *graph = sc_graphs_at(graphs, id);
    struct sc_exec *exec = &graph->exec;
    struct sc_graph_uses runs = {0};
    uint32_t unsure = set_stages_of_events(&exec->events);
    make_host_runs(graphs, &runs, &graph->uses, unsure);
    exec->host_runs = runs.count;
    if (graph->device_count)
        append_uses(graphs, &runs, &graph->uses, OF_DEVICE, unsure);
    sort_runs_from(&runs, exec->host_runs);
    exec->device_runs = runs.count - exec->host_runs;
    exec->device_stages = stages_of(&runs, exec->host_runs);
    if (graph->address_count)
        append_addresses(graphs, &runs, &graph->uses);
    sc_graph_uses_free(graphs, &exec->runs);
    exec->runs = runs;
    graph->is_exec = true;
    exec->is_stale = false;
}

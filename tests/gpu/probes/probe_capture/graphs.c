/* Launches of graphs: when they read and write, in which order, at what cost. */
#include "world.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- Q4: when a graph reads and writes host memory ---- */

enum { AT_CAPTURE = 1, AT_LAUNCH = 2, AFTER_LAUNCH = 3 };

static const char *moment(int value)
{
    switch (value) {
    case AT_CAPTURE:
        return "that at capture";
    case AT_LAUNCH:
        return "that at launch";
    case AFTER_LAUNCH:
        return "that AFTER launch";
    default:
        return "MIXED";
    }
}

static void launch_behind_work(CUgraphExec exec)
{
    occupy(nonblocking, BUSY_MS);
    say(" launch ");
    say_took(MS(cuGraphLaunch(exec, nonblocking)));
}

static void node_to_device(enum kind kind, bool captured, size_t bytes)
{
    unsigned char *source = take(kind, bytes);

    say("Q4 H2D %s %s %s node:", kind_names[kind], size_text(bytes),
        captured ? "captured" : "added");
    if (!source)
        return;
    memset(source, AT_CAPTURE, bytes);
    CUgraph graph = captured ? captured_copy(true, source, dev_a, bytes)
                             : added_copy(true, source, dev_a, bytes);
    CUgraphExec exec = instantiate(graph);
    TRY(cuGraphLaunch(exec, nonblocking));
    settle();
    memset(source, AT_LAUNCH, bytes);
    launch_behind_work(exec);
    memset(source, AFTER_LAUNCH, bytes);
    settle();
    say(", the value that arrives: %s", moment(device_value(dev_a, bytes)));
    end_line();
    throw_away(exec, graph);
    give(kind, source, bytes);
}

static void node_to_host(enum kind kind, bool captured, size_t bytes)
{
    unsigned char *target = take(kind, bytes);

    say("Q4 D2H %s %s %s node:", kind_names[kind], size_text(bytes),
        captured ? "captured" : "added");
    if (!target)
        return;
    TRY(cuMemsetD8(dev_a, 0x5a, bytes));
    CUgraph graph = captured ? captured_copy(false, target, dev_a, bytes)
                             : added_copy(false, target, dev_a, bytes);
    CUgraphExec exec = instantiate(graph);
    TRY(cuGraphLaunch(exec, nonblocking));
    settle();
    memset(target, 0, bytes);
    launch_behind_work(exec);
    bool at_return = target[0] == 0x5a && target[bytes - 1] == 0x5a;
    TRY(cuStreamSynchronize(nonblocking));
    say(", at return %s, after a synchronise %s", at_return ? "complete" : "STALE",
        value_of(target, bytes) == 0x5a ? "complete" : "STALE");
    end_line();
    throw_away(exec, graph);
    give(kind, target, bytes);
}

static void node_between_hosts(enum kind from, enum kind to, size_t bytes)
{
    unsigned char *source = take(from, bytes), *target = take(to, bytes);

    say("Q4 cuMemcpyAsync %s to %s %s captured node:", kind_names[from], kind_names[to],
        size_text(bytes));
    memset(source, AT_CAPTURE, bytes);
    TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TRY(cuMemcpyAsync(uva(target), uva(source), bytes, nonblocking2));
    CUgraph graph = end_capture(nonblocking2);
    CUgraphExec exec = instantiate(graph);
    memset(source, AT_LAUNCH, bytes);
    memset(target, 0, bytes);
    launch_behind_work(exec);
    bool at_return = target[bytes - 1] != 0;
    memset(source, AFTER_LAUNCH, bytes);
    settle();
    say(", at return %s, the value that arrives: %s", at_return ? "complete" : "STALE",
        moment(value_of(target, bytes)));
    end_line();
    throw_away(exec, graph);
    give(from, source, bytes);
    give(to, target, bytes);
}

static void memset_node(enum kind kind, size_t bytes)
{
    unsigned char *target = take(kind, bytes);
    CUgraph graph = NULL;

    say("Q4 memset %s %s captured node:", kind_names[kind], size_text(bytes));
    TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CUresult rc = cuMemsetD8Async(uva(target), 0x5a, bytes, nonblocking2);
    CUresult end = cuStreamEndCapture(nonblocking2, &graph);
    say(" capture %d/%d", (int)rc, (int)end);
    if (rc == CUDA_SUCCESS && end == CUDA_SUCCESS) {
        CUgraphExec exec = instantiate(graph);
        TRY(cuGraphLaunch(exec, nonblocking));
        settle();
        memset(target, 0, bytes);
        occupy(nonblocking, BUSY_MS);
        say(", launch ");
        say_took(MS(cuGraphLaunch(exec, nonblocking)));
        bool at_return = target[bytes - 1] == 0x5a;
        settle();
        say(", at return %s, after a synchronise %s", at_return ? "complete" : "STALE",
            value_of(target, bytes) == 0x5a ? "complete" : "STALE");
        TRY(cuGraphExecDestroy(exec));
    }
    end_line();
    if (graph)
        TRY(cuGraphDestroy(graph));
    give(kind, target, bytes);
}

/* Whether the staging of a pageable source belongs to the launch or to the exec. */
static void staged_twice(size_t bytes)
{
    unsigned char *source = take(PAGEABLE, bytes);

    say("Q4 H2D pageable %s, two launches pending:", size_text(bytes));
    memset(source, 1, bytes);
    CUgraph graph = captured_copy(true, source, dev_a, bytes);
    CUgraphExec exec = instantiate(graph);
    TRY(cuGraphLaunch(exec, nonblocking));
    settle();
    occupy(nonblocking, BUSY_MS);
    say(" first launch ");
    say_took(MS(cuGraphLaunch(exec, nonblocking)));
    TRY(cuMemcpyDtoDAsync(dev_b, dev_a, bytes, nonblocking));
    memset(source, 2, bytes);
    say(", second ");
    say_took(MS(cuGraphLaunch(exec, nonblocking)));
    memset(source, 3, bytes);
    settle();
    say("; the first brings %d (1 at its launch), the second %d (2 at its launch, 3 after)",
        device_value(dev_b, bytes), device_value(dev_a, bytes));
    end_line();
    throw_away(exec, graph);
    give(PAGEABLE, source, bytes);
}

/* Each size is a part, and the rest two more. */
void q4(void)
{
    static const size_t sizes[] = {4 * KB, 64 * KB, MB, 64 * MB};

    for (unsigned i = 0; i < COUNT(sizes); i++) {
        if (!begin_part(i + 1))
            continue;
        for (enum kind kind = PAGEABLE; kind < KINDS; kind++)
            for (int captured = 1; captured >= (kind == REGISTERED || sizes[i] > MB); captured--) {
                node_to_device(kind, captured, sizes[i]);
                node_to_host(kind, captured, sizes[i]);
            }
    }
    if (begin_part(COUNT(sizes) + 1)) {
        node_between_hosts(PINNED, PINNED, 64 * KB);
        node_between_hosts(PAGEABLE, PAGEABLE, 64 * KB);
        node_between_hosts(PAGEABLE, PINNED, 64 * KB);
        memset_node(PINNED, 64 * KB);
        memset_node(REGISTERED, 64 * KB);
        staged_twice(64 * KB);
        staged_twice(4 * MB);
    }
    if (begin_part(COUNT(sizes) + 2))
        memset_node(PAGEABLE, 64 * KB);
}

/* ---- Q5: launches and the ends of graphs ---- */

static void launch_twice(const char *label, CUstream second_stream)
{
    CUgraph graph = spinning_graph(60);
    CUgraphExec exec = instantiate(graph);

    TRY(cuGraphLaunch(exec, nonblocking));
    settle();
    uint64_t start = now_ns();
    say("Q5 %s: launches ", label);
    say_took(MS(cuGraphLaunch(exec, nonblocking)));
    say(" and ");
    say_took(MS(cuGraphLaunch(exec, second_stream)));
    settle();
    double took = ms_since(start);
    say(", both done after %.0f ms of 60 + 60: %s", took, took > 110 ? "ordered" : "CONCURRENT");
    end_line();
    throw_away(exec, graph);
}

/* 50 ms, a copy to pinned memory, a host function; the exec goes while that is pending. */
static void destroy_in_flight(bool graph_first)
{
    unsigned char *pinned = take(PINNED, MB);
    CUgraph graph;

    say("Q5 %s:", graph_first ? "cuGraphDestroy before the launch" : "cuGraphDestroy after all");
    TRY(cuMemsetD8(dev_a, 0x5a, MB));
    TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));
    occupy(nonblocking2, 50);
    TRY(cuMemcpyDtoHAsync(pinned, dev_a, MB, nonblocking2));
    TRY(cuLaunchHostFunc(nonblocking2, count_run, NULL));
    graph = end_capture(nonblocking2);
    CUgraphExec exec = instantiate(graph);
    if (graph_first)
        TRY(cuGraphDestroy(graph));
    atomic_store(&host_runs, 0);
    say(" launch %d,", (int)cuGraphLaunch(exec, nonblocking));
    say(" cuGraphExecDestroy in flight ");
    say_took(MS(cuGraphExecDestroy(exec)));
    bool pending = atomic_load(&host_runs) == 0;
    say(" (launch %s), synchronise %d,", pending ? "still pending" : "done",
        (int)cuStreamSynchronize(nonblocking));
    say(" copy %s, host function ran %u times",
        value_of(pinned, MB) == 0x5a ? "landed" : "NOT landed", atomic_load(&host_runs));
    end_line();
    if (!graph_first)
        TRY(cuGraphDestroy(graph));
    give(PINNED, pinned, MB);
}

void q5(void)
{
    launch_twice("a second launch on the same stream", nonblocking);
    launch_twice("a second launch on another stream", nonblocking2);
    destroy_in_flight(true);
    destroy_in_flight(false);
}

/* ---- Q11: what graphs cost ---- */

static double ns_each(uint64_t start_ns, size_t count)
{
    return (double)(now_ns() - start_ns) / (double)count;
}

static CUgraph many_copies(unsigned char *pinned, size_t count)
{
    TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (size_t i = 0; i < count; i++)
        TRY(cuMemcpyHtoDAsync(dev_a + i * 4 * KB, pinned + i * 4 * KB, 4 * KB, nonblocking2));
    return end_capture(nonblocking2);
}

static void cost_of_launches(CUgraphExec exec, size_t nodes)
{
    size_t launches = nodes < 100 ? 500 : 50;
    double best = 1e18;

    for (int round = 0; round < 5; round++) {
        uint64_t issued_ns = 0;
        for (size_t i = 0; i < launches; i++) {
            uint64_t start = now_ns();
            TRY(cuGraphLaunch(exec, nonblocking));
            issued_ns += now_ns() - start;
            TRY(cuStreamSynchronize(nonblocking));
        }
        double each = (double)issued_ns / (double)launches;
        best = each < best ? each : best;
    }
    say(" cuGraphLaunch %.0f ns,", best);
    uint64_t start = now_ns();
    for (size_t i = 0; i < launches; i++)
        TRY(cuGraphLaunch(exec, nonblocking));
    TRY(cuStreamSynchronize(nonblocking));
    say(" in a row and done %.0f ns", ns_each(start, launches));
}

static void cost_of_looking(CUgraph graph, size_t count)
{
    CUgraphNode *nodes = calloc(count, sizeof *nodes);
    CUgraphNodeType type;
    CUDA_MEMCPY3D c;

    if (!nodes)
        return;
    uint64_t start = now_ns();
    TRY(cuGraphGetNodes(graph, nodes, &count));
    say(", cuGraphGetNodes %.0f ns,", ns_each(start, 1));
    start = now_ns();
    for (size_t i = 0; i < count; i++)
        TRY(cuGraphNodeGetType(nodes[i], &type));
    say(" GetType %.0f ns a node,", ns_each(start, count));
    start = now_ns();
    for (size_t i = 0; i < count; i++)
        TRY(cuGraphMemcpyNodeGetParams(nodes[i], &c));
    say(" MemcpyNodeGetParams %.0f ns a node", ns_each(start, count));
    free(nodes);
}

static void cost_of_setting(CUgraph graph, CUgraphExec exec, size_t count)
{
    CUgraphNode *nodes = calloc(count, sizeof *nodes);
    CUDA_MEMCPY3D c;

    if (!nodes)
        return;
    TRY(cuGraphGetNodes(graph, nodes, &count));
    uint64_t start = now_ns();
    for (size_t i = 0; i < count; i++) {
        cuGraphMemcpyNodeGetParams(nodes[i], &c);
        TRY(cuGraphExecMemcpyNodeSetParams(exec, nodes[i], &c, primary));
    }
    say(", get and cuGraphExecMemcpyNodeSetParams %.0f ns a node", ns_each(start, count));
    free(nodes);
}

void q11(void)
{
    static const size_t counts[] = {1, 10, 1000};
    unsigned char *pinned = take(PINNED, 1000 * 4 * KB);

    for (size_t i = 0; i < COUNT(counts); i++) {
        TRY(cuGraphDestroy(many_copies(pinned, counts[i])));
        say("Q11 %zu H2D nodes of 4 KB pinned:", counts[i]);
        uint64_t start = now_ns();
        CUgraph graph = many_copies(pinned, counts[i]);
        say(" capture %.0f ns a copy,", ns_each(start, counts[i]));
        start = now_ns();
        CUgraphExec exec = instantiate(graph);
        say(" cuGraphInstantiate %.0f us,", ns_each(start, 1000));
        cost_of_launches(exec, counts[i]);
        cost_of_looking(graph, counts[i]);
        cost_of_setting(graph, exec, counts[i]);
        end_line();
        TRY(cuGraphExecDestroy(exec));
        TRY(cuGraphDestroy(graph));
    }
    give(PINNED, pinned, 1000 * 4 * KB);
}

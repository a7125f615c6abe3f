/* Work beside a capture and after it, and the ways in which captures end. */
#include "world.h"

#include <stdatomic.h>

/* ---- Q2, Q3: work beside a capture, and after it ---- */

static atomic_bool legacy_done;

static void CUDA_CB legacy_sleeper(void *ms)
{
    sleep_ms((unsigned)(uintptr_t)ms);
    atomic_store(&legacy_done, true);
}

struct beside {
    CUstream other;
    unsigned char *pinned;
};

/* What the library does for a copy of the legacy stream: on a private stream, behind `other`. */
static CUresult work_beside(void *arg)
{
    struct beside *b = arg;
    CUstreamCaptureMode before = exchange(CU_STREAM_CAPTURE_MODE_RELAXED);

    CUresult rc = cuEventRecord(event, b->other);
    say(" record on other B %d (%s),", (int)rc,
        cuEventQuery(event) == CUDA_SUCCESS ? "ready" : "not ready");
    say(" private waits %d,", (int)cuStreamWaitEvent(nonblocking2, event, 0));
    say(" copies %d,", (int)cuMemcpyDtoHAsync(b->pinned, dev_a, 4 * KB, nonblocking2));
    uint64_t start = now_ns();
    rc = cuStreamSynchronize(nonblocking2);
    say(" synchronise %d after %.0f ms, legacy work done by then: %s,", (int)rc, ms_since(start),
        yes_no(atomic_load(&legacy_done)));
    say(" record private %d,", (int)cuEventRecord(event2, nonblocking2));
    say(" other B waits for it %d,", (int)cuStreamWaitEvent(b->other, event2, 0));
    say(" other B copies %d,", (int)cuMemcpyDtoHAsync(b->pinned, dev_a, 4 * KB, b->other));
    exchange(before);
    return CUDA_SUCCESS;
}

static void beside_capture(const char *label, CUstreamCaptureMode mode, bool other_thread,
                           bool fresh)
{
    struct beside b = {blocking2, take(PINNED, 4 * KB)};
    size_t nodes;

    say("Q2 %s:", label);
    TRY(cuMemsetD8(dev_a, 0x5a, 4 * KB));
    settle();
    atomic_store(&legacy_done, false);
    TRY(cuLaunchHostFunc(LEGACY, legacy_sleeper, (void *)(uintptr_t)50));
    begin_capture(blocking, mode);
    if (fresh)
        TRY(cuStreamCreate(&b.other, CU_STREAM_DEFAULT));
    if (other_thread)
        on_other_thread(work_beside, &b, primary);
    else
        work_beside(&b);
    say(" end %d,", (int)drop_capture(blocking, &nodes));
    settle();
    say(" data %s", value_of(b.pinned, 4 * KB) == 0x5a ? "right" : "WRONG");
    end_line();
    if (fresh)
        TRY(cuStreamDestroy(b.other));
    give(PINNED, b.pinned, 4 * KB);
}

void q2(void)
{
    beside_capture("B captures, Global", CU_STREAM_CAPTURE_MODE_GLOBAL, false, false);
    beside_capture("B captures, Global, by another thread", CU_STREAM_CAPTURE_MODE_GLOBAL, true,
                   false);
    beside_capture("B captures, ThreadLocal", CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, false, false);
    beside_capture("B captures, Relaxed", CU_STREAM_CAPTURE_MODE_RELAXED, false, false);
    beside_capture("B captures, Global, other B created during the capture",
                   CU_STREAM_CAPTURE_MODE_GLOBAL, false, true);
}

static void after_capture(const char *label, bool spoil)
{
    unsigned char *pinned = take(PINNED, 4 * KB);
    CUevent captured = NULL;
    size_t nodes;

    TRY(cuEventCreate(&captured, CU_EVENT_DISABLE_TIMING));
    say("Q3 %s:", label);
    begin_capture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    TRY(cuEventRecord(captured, blocking));
    TRY(cuEventRecord(event, blocking2));
    TRY(cuEventRecord(event2, nonblocking2));
    if (spoil)
        say(" cuMemsetD8 %d,", (int)cuMemsetD8(dev_a, 0, 16));
    say(" end %d; L waits for the event", (int)drop_capture(blocking, &nodes));
    say(" of other B %d,", (int)cuStreamWaitEvent(LEGACY, event, 0));
    say(" of private N %d,", (int)cuStreamWaitEvent(LEGACY, event2, 0));
    say(" of the capture %d;", (int)cuStreamWaitEvent(LEGACY, captured, 0));
    say(" on L memset %d,", (int)cuMemsetD8Async(dev_a, 1, 16, LEGACY));
    say(" copy %d,", (int)cuMemcpyDtoHAsync(pinned, dev_a, 16, LEGACY));
    say(" record %d,", (int)cuEventRecord(event, LEGACY));
    say(" synchronise %d;", (int)cuStreamSynchronize(LEGACY));
    say(" cuCtxSynchronize %d;", (int)cuCtxSynchronize());
    say(" memset on the stream %d", (int)cuMemsetD8Async(dev_a, 1, 16, blocking));
    end_line();
    settle();
    TRY(cuEventDestroy(captured));
    give(PINNED, pinned, 4 * KB);
}

void q3(void)
{
    after_capture("after a good capture", false);
    after_capture("after a broken one", true);
}

/* ---- Q10: captures that end in other ways ---- */

static void capture_to_graph(void)
{
    CUgraph mine = NULL, got = NULL;
    size_t nodes = 0;

    say("Q10 cuStreamBeginCaptureToGraph:");
    TRY(cuGraphCreate(&mine, 0));
    say(" begin %d,", (int)cuStreamBeginCaptureToGraph(nonblocking, mine, NULL, NULL, 0,
                                                       CU_STREAM_CAPTURE_MODE_GLOBAL));
    say(" memset %d,", (int)cuMemsetD8Async(dev_b, 0, 16, nonblocking));
    say(" cuGraphGetNodes meanwhile %d", (int)cuGraphGetNodes(mine, NULL, &nodes));
    say(" (%zu),", nodes);
    say(" end %d,", (int)cuStreamEndCapture(nonblocking, &got));
    TRY(cuGraphGetNodes(mine, NULL, &nodes));
    say(" the graph returned is %s, %zu node(s);", got == mine ? "mine" : "another", nodes);
    TRY(cuStreamBeginCaptureToGraph(nonblocking, mine, NULL, NULL, 0,
                                    CU_STREAM_CAPTURE_MODE_GLOBAL));
    CUresult rc = cuCtxSynchronize();
    got = NULL;
    say(" broken: %d/%d,", (int)rc, (int)cuStreamEndCapture(nonblocking, &got));
    say(" the graph returned is %s,", got == mine ? "mine" : got ? "another" : "NULL");
    say(" cuGraphGetNodes %d", (int)cuGraphGetNodes(mine, NULL, &nodes));
    say(" (%zu), cuGraphDestroy %d", nodes, (int)cuGraphDestroy(mine));
    end_line();
}

static CUresult end_elsewhere(void *unused)
{
    size_t nodes;

    (void)unused;
    return drop_capture(nonblocking, &nodes);
}

static CUresult begin_elsewhere(void *unused)
{
    (void)unused;
    return cuStreamBeginCapture(nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static void other_threads_end(void)
{
    static const char *const modes[] = {"Global", "ThreadLocal", "Relaxed"};
    size_t nodes;

    say("Q10 cuStreamEndCapture by another thread, then by the one that began:");
    for (int mode = 0; mode < 3; mode++) {
        begin_capture(nonblocking, (CUstreamCaptureMode)mode);
        CUresult other = on_other_thread(end_elsewhere, NULL, primary);
        say(" %s %d, %d;", modes[mode], (int)other, (int)drop_capture(nonblocking, &nodes));
    }
    end_line();
}

static void thread_gone(void)
{
    CUdeviceptr p = 0;
    size_t nodes;

    say("Q10 a Global capture of a thread that has exited:");
    TRY(on_other_thread(begin_elsewhere, NULL, primary));
    say(" cuMemAlloc %d,", (int)cuMemAlloc(&p, 4 * KB));
    say(" end by another thread %d,", (int)drop_capture(nonblocking, &nodes));
    say(" cuStreamDestroy %d,", (int)cuStreamDestroy(nonblocking));
    say(" then cuMemAlloc %d", (int)cuMemAlloc(&p, 4 * KB));
    end_line();
}

static void capturing_stream_destroyed(void)
{
    CUstream doomed = NULL;
    CUdeviceptr p = 0;

    say("Q10 cuStreamDestroy of the capturing stream:");
    TRY(cuStreamCreate(&doomed, CU_STREAM_DEFAULT));
    begin_capture(doomed, CU_STREAM_CAPTURE_MODE_GLOBAL);
    say(" %d,", (int)cuStreamDestroy(doomed));
    say(" then cuMemAlloc %d,", (int)cuMemAlloc(&p, 4 * KB));
    say(" cuMemsetD8 %d,", (int)cuMemsetD8(dev_a, 0, 16));
    say(" cuCtxSynchronize %d", (int)cuCtxSynchronize());
    end_line();
}

static void captured_event(void)
{
    CUevent captured = NULL;
    size_t nodes;

    say("Q10 an event recorded in the capture: during it cuEventQuery/end");
    TRY(cuEventCreate(&captured, CU_EVENT_DISABLE_TIMING));
    begin_capture(nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    TRY(cuEventRecord(captured, nonblocking));
    CUresult rc = cuEventQuery(captured);
    say(" %d/%d,", (int)rc, (int)drop_capture(nonblocking, &nodes));
    begin_capture(nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    TRY(cuEventRecord(captured, nonblocking));
    CUstreamCaptureMode before = exchange(CU_STREAM_CAPTURE_MODE_RELAXED);
    rc = cuEventQuery(captured);
    exchange(before);
    say(" in Relaxed mode %d/%d,", (int)rc, (int)drop_capture(nonblocking, &nodes));
    begin_capture(nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    TRY(cuEventRecord(captured, nonblocking));
    rc = cuEventSynchronize(captured);
    say(" cuEventSynchronize %d/%d;", (int)rc, (int)drop_capture(nonblocking, &nodes));
    say(" after it query %d,", (int)cuEventQuery(captured));
    say(" synchronise %d,", (int)cuEventSynchronize(captured));
    say(" another stream waits %d", (int)cuStreamWaitEvent(nonblocking2, captured, 0));
    TRY(cuEventRecord(captured, nonblocking));
    settle();
    say("; recorded anew, query %d", (int)cuEventQuery(captured));
    TRY(cuEventDestroy(captured));
    end_line();
}

static void captured_launch(void)
{
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    CUgraph inner = spinning_graph(1), outer, child = NULL;
    CUgraphExec exec = instantiate(inner);
    size_t nodes = 0;

    say("Q10 cuGraphLaunch captured:");
    TRY(cuStreamBeginCapture(nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
    say(" %d,", (int)cuGraphLaunch(exec, nonblocking));
    outer = end_capture(nonblocking);
    CUgraphNode node = only_node(outer);
    TRY(cuGraphNodeGetType(node, &type));
    say(" node type %d (child graph is %d),", (int)type, (int)CU_GRAPH_NODE_TYPE_GRAPH);
    if (type == CU_GRAPH_NODE_TYPE_GRAPH && TRY(cuGraphChildGraphNodeGetGraph(node, &child)) == 0) {
        TRY(cuGraphGetNodes(child, NULL, &nodes));
        say(" its graph is %s with %zu node(s)", child == inner ? "the first" : "a clone", nodes);
    }
    end_line();
    TRY(cuGraphExecDestroy(exec));
    TRY(cuGraphDestroy(inner));
    TRY(cuGraphDestroy(outer));
}

/* A node of ours put into the graph of an open capture, and the stream's work behind it. */
static void node_in_open_capture(void)
{
    CUgraph open = NULL;
    CUgraphNode node = NULL;
    const CUgraphNode *deps = NULL;
    const CUgraphEdgeData *edges = NULL;
    size_t dep_count = 0, nodes = 0;
    CUstreamCaptureStatus status;
    cuuint64_t id;
    unsigned char *pinned = take(PINNED, 4 * KB);
    CUDA_MEMCPY3D c = flat_copy(true, pinned, dev_a, 4 * KB);

    say("Q10 in an open capture:");
    begin_capture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    say(" cuStreamGetCaptureInfo %d,",
        (int)cuStreamGetCaptureInfo(blocking, &status, &id, &open, &deps, &edges, &dep_count));
    say(" %zu dependencies, cuGraphGetNodes %d", dep_count,
        (int)cuGraphGetNodes(open, NULL, &nodes));
    say(" (%zu), cuGraphAddMemcpyNode %d,", nodes,
        (int)cuGraphAddMemcpyNode(&node, open, deps, dep_count, &c, primary));
    say(" cuStreamUpdateCaptureDependencies %d,",
        (int)cuStreamUpdateCaptureDependencies(blocking, &node, NULL, 1,
                                               CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    say(" cuGraphMemcpyNodeGetParams %d,", (int)cuGraphMemcpyNodeGetParams(node, &c));
    say(" cuGraphMemcpyNodeSetParams %d,", (int)cuGraphMemcpyNodeSetParams(node, &c));
    say(" memset behind it %d,", (int)cuMemsetD8Async(dev_b, 0, 16, blocking));
    say(" end %d", (int)drop_capture(blocking, &nodes));
    say(" (%zu nodes)", nodes);
    end_line();
    give(PINNED, pinned, 4 * KB);
}

static void broken_capture_asked(void)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    CUgraph graph = NULL;
    size_t nodes;

    say("Q10 a broken capture:");
    begin_capture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    say(" cuMemsetD8 %d,", (int)cuMemsetD8(dev_a, 0, 16));
    CUresult rc = cuStreamIsCapturing(blocking, &status);
    say(" cuStreamIsCapturing %d status %d,", (int)rc, (int)status);
    rc = cuStreamGetCaptureInfo(blocking, &status, &id, &graph, NULL, NULL, NULL);
    say(" cuStreamGetCaptureInfo %d status %d graph %s,", (int)rc, (int)status,
        graph ? "given" : "NULL");
    rc = cuMemsetD8Async(dev_a, 0, 16, blocking);
    say(" memset on it %d,", (int)rc);
    rc = cuMemsetD8(dev_a, 0, 16);
    say(" cuMemsetD8 again %d,", (int)rc);
    rc = cuCtxSynchronize();
    say(" cuCtxSynchronize %d, end %d", (int)rc, (int)drop_capture(blocking, &nodes));
    end_line();
}

void q10(void)
{
    static void (*const parts[])(void) = {
        capture_to_graph, other_threads_end,    capturing_stream_destroyed, captured_event,
        captured_launch,  node_in_open_capture, broken_capture_asked,       thread_gone,
    };

    for (unsigned i = 0; i < COUNT(parts); i++)
        if (begin_part(i + 1))
            parts[i]();
}

/* Graphs: what is announced of their lives, and what may be asked in a callback. */
#include "ear.h"

/* ---- Q10: graphs ---- */

static CUDA_MEMCPY3D upload_of(const void *source)
{
    return (CUDA_MEMCPY3D){
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = source,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = dev,
        .WidthInBytes = 64,
        .Height = 1,
        .Depth = 1,
    };
}

static CUgraphNode add_copy(CUgraph graph, const CUgraphNode *after, const char *name)
{
    CUDA_MEMCPY3D copy = upload_of(pinned);
    CUgraphNode node = NULL;

    TRY(cuGraphAddMemcpyNode(&node, graph, after, after != NULL, &copy, primary));
    name_as(node, name);
    return node;
}

static void add_conditional(CUgraph graph)
{
    CUgraphConditionalHandle handle = 0;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    CUgraphNode node = NULL;

    TRY(cuGraphConditionalHandleCreate(&handle, graph, primary, 0, CU_GRAPH_COND_ASSIGN_DEFAULT));
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = primary;
    TRY(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    name_as(node, "condnode");
    if (params.conditional.phGraph_out) {
        name_as(params.conditional.phGraph_out[0], "body");
        add_copy(params.conditional.phGraph_out[0], NULL, "bodycopy");
    }
}

static void abandon_captures(void)
{
    CUstream doomed = NULL;
    CUgraph graph = NULL;

    LINE("capture whose stream is destroyed", {
        TRY(cuStreamCreate(&doomed, CU_STREAM_NON_BLOCKING));
        TRY(cuStreamBeginCapture(doomed, CU_STREAM_CAPTURE_MODE_RELAXED));
        TRY(cuMemcpyHtoDAsync(dev, pinned, 64, doomed));
        TRY(cuStreamDestroy(doomed));
    });
    LINE("capture invalidated by a synchronise, then ended", {
        TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
        TRY(cuStreamSynchronize(stream));
        TRY(cuStreamEndCapture(stream, &graph));
    });
}

static void q10_nodes(CUgraph graph)
{
    CUgraphNode first = NULL, child_node = NULL;
    CUgraph child = NULL, clone = NULL, embedded = NULL;
    CUDA_MEMCPY3D changed = upload_of(pinned + 128);

    LINE("graph made by hand, two copies, an edge", {
        TRY(cuGraphCreate(&child, 0));
        name_as(child, "child");
        first = add_copy(child, NULL, "first");
        add_copy(child, &first, "second");
    });
    LINE("child graph node added", {
        TRY(cuGraphAddChildGraphNode(&child_node, graph, NULL, 0, child));
        name_as(child_node, "childnode");
    });
    TRY(cuGraphChildGraphNodeGetGraph(child_node, &embedded));
    LINE("conditional node added, a copy in its body", add_conditional(graph));
    LINE("clone", {
        TRY(cuGraphClone(&clone, graph));
        name_as(clone, "clone");
    });
    LINE("params of a node set", TRY(cuGraphMemcpyNodeSetParams(first, &changed)));
    LINE("node destroyed", TRY(cuGraphDestroyNode(first)));
    LINE("child node destroyed", TRY(cuGraphDestroyNode(child_node)));
    LINE("clone destroyed", TRY(cuGraphDestroy(clone)));
    LINE("graph by hand destroyed", TRY(cuGraphDestroy(child)));
    say("Q10 the child node's own graph was %s", name_of(embedded, "G"));
    end_line();
}

static void q10_execs(CUgraph graph)
{
    CUgraphExec exec = NULL, other = NULL;
    CUgraphExecUpdateResultInfo info;
    CUgraphNode nodes[8];
    size_t count = COUNT(nodes);
    CUDA_MEMCPY3D changed = upload_of(pinned + 128);

    TRY(cuGraphGetNodes(graph, nodes, &count));
    say("Q10 nodes of the graph before it is instantiated:");
    for (size_t i = 0; i < count; i++)
        say(" %s", name_of(nodes[i], "N"));
    end_line();
    LINE("instantiate", {
        TRY(cuGraphInstantiate(&exec, graph, 0));
        name_as(exec, "exec");
    });
    LINE("instantiate again", {
        TRY(cuGraphInstantiate(&other, graph, 0));
        name_as(other, "exec2");
    });
    for (size_t i = 0; i < count; i++) {
        CUgraphNodeType type;
        if (cuGraphNodeGetType(nodes[i], &type) == CUDA_SUCCESS &&
            type == CU_GRAPH_NODE_TYPE_MEMCPY)
            LINE("exec's params set",
                 TRY(cuGraphExecMemcpyNodeSetParams(exec, nodes[i], &changed, primary)));
    }
    LINE("exec updated", TRY(cuGraphExecUpdate(exec, graph, &info)));
    LINE("launched twice, waited for", {
        TRY(cuGraphLaunch(exec, stream));
        TRY(cuGraphLaunch(exec, stream));
        TRY(cuStreamSynchronize(stream));
    });
    TRY(cuGraphLaunch(other, stream));
    LINE("exec destroyed", TRY(cuGraphExecDestroy(exec)));
    LINE("exec destroyed in flight", TRY(cuGraphExecDestroy(other)));
    TRY(cuStreamSynchronize(stream));
}

static void q10_to_graph(void)
{
    CUgraph graph = NULL, same = NULL;

    LINE("captured to a graph of the program's", {
        TRY(cuGraphCreate(&graph, 0));
        TRY(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0,
                                        CU_STREAM_CAPTURE_MODE_RELAXED));
        TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
        TRY(cuStreamEndCapture(stream, &same));
    });
    say("Q10 of which the end gave %s", same == graph ? "the same" : "another");
    end_line();
    LINE("which is destroyed", TRY(cuGraphDestroy(graph)));
}

void q10(void)
{
    CUgraph graph = NULL;

    if (!begin())
        return;
    LINE("capture", graph = captured(CU_STREAM_CAPTURE_MODE_GLOBAL));
    name_as(graph, "captured");
    q10_execs(graph);
    q10_nodes(graph);
    LINE("instantiate with a conditional node, destroyed", {
        CUgraphExec exec = NULL;
        TRY(cuGraphInstantiate(&exec, graph, 0));
        TRY(cuGraphExecDestroy(exec));
    });
    LINE("captured graph destroyed", TRY(cuGraphDestroy(graph)));
    q10_to_graph();
    abandon_captures();
}

void q10_inside(void)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;

    if (!begin())
        return;
    ear.ask_inside = true;
    LINE("the driver asked about nodes inside, a graph made by hand", {
        TRY(cuGraphCreate(&graph, 0));
        add_copy(graph, NULL, "hand");
    });
    LINE("the driver asked about nodes inside, instantiate",
         TRY(cuGraphInstantiate(&exec, graph, 0)));
    LINE("the driver asked about nodes inside, destroyed", {
        TRY(cuGraphExecDestroy(exec));
        TRY(cuGraphDestroy(graph));
    });
}

void q10_inside_capture(void)
{
    CUgraph graph = NULL;

    if (!begin())
        return;
    ear.ask_inside = true;
    LINE("the driver asked about nodes inside, capture",
         graph = captured(CU_STREAM_CAPTURE_MODE_RELAXED));
    LINE("the driver asked about nodes inside, its end", TRY(cuGraphDestroy(graph)));
}

/*
 * What this driver does with bodies of conditional nodes, as rows of text: which run, when they
 * read host memory, and by which name a node of a body is changed in an exec.
 */
#include "rows.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 16, BEFORE = 0x00, FIRST = 0x11, SECOND = 0x77 };

static CUcontext context;
static CUstream stream;
static CUdeviceptr device;
static unsigned char *first, *second; /* pinned */

static const char *number(CUresult result)
{
    static char text[16];
    snprintf(text, sizeof text, "%d", (int)result);
    return text;
}

/* ---- graphs ---- */

static CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    NEED(cuGraphCreate(&graph, 0));
    return graph;
}

static CUgraphExec exec_of(CUgraph graph)
{
    CUgraphExec exec = NULL;
    NEED(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static CUDA_MEMCPY3D upload_of(const void *from)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = from,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = device,
                           .WidthInBytes = BYTES,
                           .Height = 1,
                           .Depth = 1};
}

static CUgraphNode add_upload(CUgraph graph, const void *from)
{
    CUgraphNode node = NULL;
    const CUDA_MEMCPY3D copy = upload_of(from);
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    return node;
}

/* The body of a new IF node, whose condition's handle is of `owner`. NULL: there is none. */
static CUgraph body_of(CUgraph graph, CUgraph owner, unsigned value)
{
    CUgraphNode node = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    NEED(cuGraphConditionalHandleCreate(&params.conditional.handle, owner, context, value,
                                        CU_GRAPH_COND_ASSIGN_DEFAULT));
    NEED(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    return setup_error ? NULL : params.conditional.phGraph_out[0];
}

static CUgraph if_of(CUgraph graph, unsigned value)
{
    return body_of(graph, graph, value);
}

/* ---- what arrives ---- */

static void blank(void)
{
    NEED(cuMemsetD8(device, BEFORE, BYTES));
    NEED(cuCtxSynchronize());
    memset(first, FIRST, BYTES);
    memset(second, SECOND, BYTES);
}

static const char *arrived(void)
{
    unsigned char *image = malloc(BYTES);
    const char *answer = "mixed";
    NEED(cuMemcpyDtoH(image, device, BYTES));
    if (image[0] == image[BYTES - 1])
        answer = image[0] == FIRST    ? "the first source"
                 : image[0] == SECOND ? "the second source"
                                      : "nothing";
    free(image);
    return answer;
}

static const char *launched(CUgraphExec exec)
{
    blank();
    NEED(cuGraphLaunch(exec, stream));
    NEED(cuStreamSynchronize(stream));
    return arrived();
}

static void end(CUgraphExec exec, CUgraph graph)
{
    NEED(cuGraphExecDestroy(exec));
    NEED(cuGraphDestroy(graph));
}

/* ---- rows ---- */

static void run_row(const char *variant, unsigned value)
{
    CUgraph graph = new_graph();
    add_upload(if_of(graph, value), first);
    CUgraphExec exec = exec_of(graph);
    launched(exec);
    say("second launch", variant, launched(exec));
    end(exec, graph);
}

static void nested_row(const char *variant, bool is_own, unsigned value)
{
    CUgraph graph = new_graph(), body = if_of(graph, 1);
    add_upload(body_of(body, is_own ? body : graph, value), first);
    CUgraphExec exec = exec_of(graph);
    launched(exec);
    say("second launch", variant, launched(exec));
    end(exec, graph);
}

/* The source is overwritten while the launch is held. */
static void late_row(void)
{
    CUgraph graph = new_graph();
    add_upload(if_of(graph, 1), first);
    CUgraphExec exec = exec_of(graph);
    blank();
    NEED(cuLaunchHostFunc(stream, hold_up, NULL));
    unsigned over_before = over;
    NEED(cuGraphLaunch(exec, stream));
    say("cuGraphLaunch", "a body reads pinned memory", waited(over_before));
    memset(first, SECOND, BYTES);
    NEED(cuStreamSynchronize(stream));
    say("pinned source overwritten behind the launch", "in a body",
        strcmp(arrived(), "the second source") == 0 ? "NEW" : "old");
    end(exec, graph);
}

static void changed_rows(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = add_upload(if_of(graph, 1), first);
    CUgraphExec exec = exec_of(graph);
    const CUDA_MEMCPY3D copy = upload_of(second);
    say("cuGraphExecMemcpyNodeSetParams", "node of a body",
        number(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context)));
    say("launch", "node of a body was changed in the exec", launched(exec));
    say("cuGraphNodeSetEnabled", "node of a body, 0", number(cuGraphNodeSetEnabled(exec, node, 0)));
    end(exec, graph);
}

static void updated_rows(void)
{
    CUgraphExecUpdateResultInfo info;
    CUgraph graph = new_graph(), other = new_graph(), none = new_graph();
    CUgraphNode node = add_upload(if_of(graph, 1), first);
    CUgraphNode others = add_upload(if_of(other, 1), second);
    add_upload(if_of(none, 0), first);
    CUgraphExec exec = exec_of(graph);
    const CUDA_MEMCPY3D copy = upload_of(first);
    say("cuGraphExecUpdate", "by another graph with such a body",
        number(cuGraphExecUpdate(exec, other, &info)));
    say("launch", "the exec was updated by another graph", launched(exec));
    say("cuGraphExecMemcpyNodeSetParams", "then, node of the first graph's body",
        number(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context)));
    say("cuGraphExecMemcpyNodeSetParams", "then, node of the other graph's body",
        number(cuGraphExecMemcpyNodeSetParams(exec, others, &copy, context)));
    say("launch", "then", launched(exec));
    say("cuGraphExecUpdate", "by a graph whose condition begins as false",
        number(cuGraphExecUpdate(exec, none, &info)));
    say("launch", "then", launched(exec));
    NEED(cuGraphDestroy(none));
    NEED(cuGraphDestroy(other));
    end(exec, graph);
}

static void pageable_row(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    unsigned char *source = malloc(BYTES);
    memset(source, SECOND, BYTES);
    const CUDA_MEMCPY3D copy = upload_of(source);
    CUgraph body = if_of(graph, 1);
    CUresult added = cuGraphAddMemcpyNode(&node, body, NULL, 0, &copy, context);
    say("cuGraphAddMemcpyNode", "body, pageable source", number(added));
    CUresult made = cuGraphInstantiateWithFlags(&exec, graph, 0);
    say("cuGraphInstantiate", "body with a pageable source", number(made));
    if (made == CUDA_SUCCESS)
        NEED(cuGraphExecDestroy(exec));
    NEED(cuGraphDestroy(graph));
    free(source);
}

int main(void)
{
    CUdevice gpu;
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&gpu, 0) != CUDA_SUCCESS ||
        cuDevicePrimaryCtxRetain(&context, gpu) != CUDA_SUCCESS ||
        cuCtxSetCurrent(context) != CUDA_SUCCESS) {
        fputs("conformance_bodies: no usable GPU\n", stderr);
        return 77;
    }
    section = "9 bodies";
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuMemAlloc(&device, BYTES));
    NEED(cuMemHostAlloc((void **)&first, BYTES, 0));
    NEED(cuMemHostAlloc((void **)&second, BYTES, 0));
    run_row("condition begins as true", 1);
    run_row("condition begins as false", 0);
    nested_row("node in a body, handle of the body, begins as true", true, 1);
    nested_row("node in a body, handle of the body, begins as false", true, 0);
    nested_row("node in a body, handle of the outermost graph, begins as true", false, 1);
    late_row();
    changed_rows();
    updated_rows();
    pageable_row();
    return 0;
}

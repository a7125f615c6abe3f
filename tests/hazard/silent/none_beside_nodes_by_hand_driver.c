// expect: none
//
// Memory is cleared beside the capture that reads it. The graph uploads it itself, before, by a
// node that was added by hand: before the capture into the graph began, within it, or when it had
// ended. The clearing is waited for before the launch: cuMemsetD8 returns before it is done, and
// the stream is non-blocking.
#include "left_out.h"

enum { BEFORE, WITHIN, BEHIND };

static CUgraph capture(int when, CUdeviceptr result, CUdeviceptr input, void *source)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphNode captured = NULL;
    size_t one = 1;
    CUstreamCaptureStatus status;
    CUstream stream = driver_new_stream();

    CHECK(cuGraphCreate(&graph, 0));
    if (when == BEFORE)
        node = add_copy(graph, input, source);
    CHECK(cuStreamBeginCaptureToGraph(stream, graph, &node, NULL, node ? 1 : 0,
                                      CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemsetD8(input, 0, SMALL));
    if (when == WITHIN) {
        CHECK(cuStreamGetCaptureInfo(stream, &status, NULL, &graph, NULL, NULL, NULL));
        node = add_copy(graph, input, source);
        CHECK(cuStreamUpdateCaptureDependencies(stream, &node, NULL, 1,
                                                CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    }
    CHECK(cuMemcpyDtoDAsync(result, input, SMALL, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    if (when == BEHIND) {
        CHECK(cuGraphGetNodes(graph, &captured, &one));
        node = add_copy(graph, input, source);
        CHECK(cuGraphAddDependencies(graph, &node, &captured, NULL, 1));
    }
    return graph;
}

static bool runs(int when)
{
    CUstream stream = driver_new_stream();
    void *source = driver_pinned_block(SMALL, WANTED);
    CUdeviceptr input = driver_device_block(SMALL, 0);
    CUdeviceptr result = driver_device_block(SMALL, 0);
    CUgraphExec exec = NULL;

    CHECK(cuGraphInstantiateWithFlags(&exec, capture(when, result, input, source), 0));
    CHECK(cuCtxSynchronize());
    driver_replay(exec, stream);
    bool first = driver_device_holds(result, SMALL, WANTED);
    fill(source, SMALL, NEXT);
    driver_replay(exec, stream);
    return first && driver_device_holds(result, SMALL, NEXT);
}

int main(void)
{
    bool right = true;
    driver_start();
    for (int when = BEFORE; when <= BEHIND; when++)
        right = runs(when) && right;
    return finish(!broken && right);
}

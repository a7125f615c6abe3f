// expect: none
//
// An exec begins with many nodes that do nothing, and has one that works. So its launches follow
// each other on whatever streams, and the second one says that the copy before the first is done.
#include "empty_launch.h"

enum { EMPTY_NODES = 20 };

static cudaGraphExec_t new_exec(void *cleared)
{
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = NULL;
    struct cudaMemsetParams params = {
        .dst = cleared, .elementSize = 1, .width = SMALL, .height = 1};
    for (int i = 0; i < EMPTY_NODES; i++)
        CHECK(cudaGraphAddEmptyNode(&node, graph, NULL, 0));
    CHECK(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &params));
    return instantiate_only(graph);
}

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    struct empty_launch launch = new_empty_launch(false);
    launch.exec = new_exec(device_block(SMALL, 0));

    send_late(&launch, first);
    CHECK(cudaGraphLaunch(launch.exec, first));
    CHECK(cudaGraphLaunch(launch.exec, second));
    return finish(right_after_write(&launch, second));
}

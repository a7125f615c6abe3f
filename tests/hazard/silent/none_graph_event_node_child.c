// expect: none
//
// A child graph records events behind a copy of its own and behind one of its parent's. A third
// copy stands behind the child. The program fills each source when it has heard of its event.
#include "graphs.h"

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    cudaEvent_t begun = new_event();
    cudaEvent_t copied = new_event();
    cudaEvent_t all = new_event();
    void *devices[3] = {device_block(SMALL, 0), device_block(SMALL, 0), device_block(SMALL, 0)};
    void *inputs[3] = {pinned_block(SMALL, 0), pinned_block(SMALL, 0), pinned_block(SMALL, 0)};
    cudaGraph_t child = empty_graph();
    cudaGraphNode_t node = NULL;
    CHECK(cudaGraphAddEventRecordNode(&node, child, NULL, 0, begun));
    CHECK(cudaGraphAddMemcpyNode1D(&node, child, &node, 1, devices[1], inputs[1], SMALL,
                                   cudaMemcpyHostToDevice));
    CHECK(cudaGraphAddEventRecordNode(&node, child, &node, 1, copied));
    cudaGraph_t graph = empty_graph();
    node = added_copy(graph, devices[0], inputs[0], SMALL, cudaMemcpyHostToDevice);
    CHECK(cudaGraphAddChildGraphNode(&node, graph, &node, 1, child));
    CHECK(cudaGraphAddMemcpyNode1D(&node, graph, &node, 1, devices[2], inputs[2], SMALL,
                                   cudaMemcpyHostToDevice));
    CHECK(cudaGraphAddEventRecordNode(&node, graph, &node, 1, all));
    cudaGraphExec_t exec = instantiate_only(graph);

    const cudaEvent_t events[3] = {begun, copied, all};
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < 3; i++)
            fill(inputs[i], SMALL, WANTED);
        CHECK(cudaGraphLaunch(exec, stream));
        for (int i = 0; i < 3; i++) {
            CHECK(cudaEventSynchronize(events[i]));
            fill(inputs[i], SMALL, FOREIGN);
        }
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < 3; i++)
            right = right && device_holds(devices[i], SMALL, WANTED);
    }
    return finish(right);
}

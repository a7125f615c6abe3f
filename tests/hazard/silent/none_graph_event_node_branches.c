// expect: none
//
// Two branches of a graph, each with a copy and a record of an event of its own, and a third event
// behind both. The program fills each source when it has heard of its event, in either order.
#include "graphs.h"

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    cudaEvent_t copied[2] = {new_event(), new_event()};
    cudaEvent_t all = new_event();
    void *devices[2] = {device_block(SMALL, 0), device_block(SMALL, 0)};
    void *inputs[2] = {pinned_block(SMALL, 0), pinned_block(SMALL, 0)};
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t records[2] = {NULL, NULL};
    cudaGraphNode_t last = NULL;
    for (int i = 0; i < 2; i++) {
        cudaGraphNode_t copy =
            added_copy(graph, devices[i], inputs[i], SMALL, cudaMemcpyHostToDevice);
        CHECK(cudaGraphAddEventRecordNode(&records[i], graph, &copy, 1, copied[i]));
    }
    CHECK(cudaGraphAddEventRecordNode(&last, graph, records, 2, all));
    cudaGraphExec_t exec = instantiate_only(graph);

    for (int turn = 0; turn < 4; turn++) {
        fill(inputs[0], SMALL, WANTED);
        fill(inputs[1], SMALL, WANTED);
        CHECK(cudaGraphLaunch(exec, stream));
        for (int i = 0; i < 2; i++) {
            int branch = (turn + i) % 2;
            CHECK(cudaEventSynchronize(turn == 3 ? all : copied[branch]));
            fill(inputs[branch], SMALL, FOREIGN);
        }
        CHECK(cudaDeviceSynchronize());
        right = right && device_holds(devices[0], SMALL, WANTED) &&
                device_holds(devices[1], SMALL, WANTED);
    }
    return finish(right);
}

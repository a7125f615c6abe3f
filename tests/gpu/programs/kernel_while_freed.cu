// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// An nvcc program: the body of a WHILE node copies from pinned memory and counts its rounds in a
// kernel, which ends the loop. The source is freed before the launch.
#include "twin.h"

static const int ROUNDS = 3;

__global__ void count_round(cudaGraphConditionalHandle condition, int *rounds)
{
    cudaGraphSetConditional(condition, ++*rounds < ROUNDS);
}

static cudaGraph_t body_of_while(cudaGraph_t graph, cudaGraphConditionalHandle *condition)
{
    cudaGraphNode_t node = NULL;
    cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
    CHECK(cudaGraphConditionalHandleCreate(condition, graph, 1, cudaGraphCondAssignDefault));
    params.conditional.handle = *condition;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    CHECK(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    return params.conditional.phGraph_out[0];
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaGraphConditionalHandle condition;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    int rounds = 0;
    int *device_rounds = (int *)device_block(sizeof rounds, 0);
    void *device = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    CHECK(cudaMemset(device_rounds, 0, sizeof rounds));
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraph_t body = body_of_while(graph, &condition);
    CHECK(cudaStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0,
                                        cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    count_round<<<1, 1, 0, stream>>>(condition, device_rounds);
    CHECK(cudaStreamEndCapture(stream, NULL));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));

    if (fixed) {
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaFreeHost(source));
    void *next = pinned_block(SMALL, FOREIGN);
    if (!fixed) {
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
    }

    CHECK(cudaMemcpy(&rounds, device_rounds, sizeof rounds, cudaMemcpyDeviceToHost));
    bool right = rounds == ROUNDS && holds(next, SMALL, FOREIGN);
    return finish(right && device_holds(device, SMALL, WANTED));
}

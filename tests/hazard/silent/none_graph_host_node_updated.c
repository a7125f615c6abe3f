// expect: none
//
// An exec with a host node behind its copy is updated, by its own graph and by others that are gone
// then, between launches of which the node tells when the source may be filled.
#include "flag.h"
#include "graphs.h"

static void update(cudaGraphExec_t exec, cudaGraph_t graph)
{
#if CUDART_VERSION >= 12000
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(exec, graph, &info));
#else
    cudaGraphNode_t node;
    enum cudaGraphExecUpdateResult result;
    CHECK(cudaGraphExecUpdate(exec, graph, &node, &result));
#endif
}

static inline cudaGraph_t captured(void *device, const void *input, atomic_int *flag,
                                   cudaStream_t stream)
{
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaLaunchHostFunc(stream, raise_flag, flag));
    return end_capture(stream);
}

int main(void)
{
    atomic_int flag = 0;
    bool right = true;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, 0);
    cudaGraph_t graph = captured(device, input, &flag, stream);
    cudaGraphExec_t exec = instantiate(graph);

    for (int turn = 0; turn < 6; turn++) {
        cudaGraph_t other = captured(device, input, &flag, stream);
        if (turn == 1 || turn == 2)
            update(exec, graph);
        if (turn > 2)
            update(exec, other);
        CHECK(cudaGraphDestroy(other));
        if (turn == 2)
            CHECK(cudaGraphDestroy(graph));
        fill(input, SMALL, WANTED);
        atomic_store(&flag, 0);
        CHECK(cudaGraphLaunch(exec, stream));
        while (atomic_load(&flag) == 0)
            usleep(100);
        fill(input, SMALL, FOREIGN);
        CHECK(cudaDeviceSynchronize());
        right = right && device_holds(device, SMALL, WANTED);
    }
    return finish(right);
}

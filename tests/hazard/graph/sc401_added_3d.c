// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A node that takes part of each row of pinned memory.
#include "graphs.h"

enum { WIDTH = 256, PITCH = 1024, ROWS = 32 };

static bool rows_hold(const void *device, unsigned seed)
{
    unsigned char wanted[PITCH * ROWS];
    unsigned char got[WIDTH * ROWS];
    bool same = true;
    fill(wanted, sizeof wanted, seed);
    CHECK(cudaMemcpy(got, device, sizeof got, cudaMemcpyDeviceToHost));
    for (size_t row = 0; row < ROWS; row++)
        same = same && memcmp(got + row * WIDTH, wanted + row * PITCH, WIDTH) == 0;
    return same;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(WIDTH * ROWS, 0);
    void *source = pinned_block(PITCH * ROWS, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = NULL;
    struct cudaMemcpy3DParms copy = {
        .srcPtr = {source, PITCH, WIDTH, ROWS},
        .dstPtr = {device, WIDTH, WIDTH, ROWS},
        .extent = {WIDTH, ROWS, 1},
        .kind = cudaMemcpyHostToDevice,
    };
    CHECK(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &copy));
    cudaGraphExec_t exec = instantiate_only(graph);

    if (fixed)
        replay(exec, stream);
    CHECK(cudaFreeHost(source));
    void *owner = pinned_block(PITCH * ROWS, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    bool right = rows_hold(device, WANTED) && holds(owner, PITCH * ROWS, FOREIGN);
    CHECK(cudaFreeHost(owner));
    return finish(right);
}

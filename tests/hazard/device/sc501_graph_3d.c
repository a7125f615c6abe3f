// expect: SC501 action=ordered direction=H2D event=cuMemcpyDtoDAsync_v2 certainty=observed
// options: device=1
//
// A node that was added by hand uploads a box, which another stream reads without an order.
#include "graphs.h"

enum { WIDTH = 64, ROWS = 16, SLICES = 8, BYTES = WIDTH * ROWS * SLICES };

static void add_upload(cudaGraph_t graph, void *to, void *from)
{
    const struct cudaMemcpy3DParms box = {
        .srcPtr = {from, WIDTH, WIDTH, ROWS},
        .dstPtr = {to, WIDTH, WIDTH, ROWS},
        .srcPos = {WIDTH / 2, ROWS / 2, 1},
        .dstPos = {WIDTH / 2, ROWS / 2, 1},
        .extent = {WIDTH / 2, ROWS / 2, SLICES - 1},
        .kind = cudaMemcpyHostToDevice,
    };
    cudaGraphNode_t node;
    CHECK(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &box));
}

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t down = new_stream();
    cudaEvent_t uploaded = new_event();
    void *source = pinned_block(BYTES, WANTED);
    unsigned char *device = device_block(BYTES, WANTED);
    void *result = device_block(BYTES, 0);
    cudaGraph_t graph = empty_graph();
    add_upload(graph, device, source);
    cudaGraphExec_t exec = instantiate_only(graph);

    CHECK(cudaMemset(device + BYTES - WIDTH / 2, 0, WIDTH / 2)); /* a row of the box, the last */
    CHECK(cudaDeviceSynchronize());
    busy(up);
    CHECK(cudaGraphLaunch(exec, up));
    CHECK(cudaEventRecord(uploaded, up));
    if (fixed)
        CHECK(cudaStreamWaitEvent(down, uploaded, 0));
    CHECK(cudaMemcpyAsync(result, device, BYTES, cudaMemcpyDeviceToDevice, down));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, BYTES, WANTED));
}

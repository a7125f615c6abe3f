// expect: none
//
// The rows of a 3D copy have gaps. What the host writes there while a graph of the copy runs, and
// where another graph's copy writes rows of its own at the same time, meets none of its bytes.
#include "graphs.h"

enum {
    WIDTH = 4096,
    PITCH = 2 * WIDTH,
    HEIGHT = 8,
    DEPTH = 4,
    ROWS = HEIGHT * DEPTH,
    BYTES = PITCH * ROWS,
};

/* The rows, each with a pattern of its own. */
static void fill_rows(unsigned char *rows, size_t pitch)
{
    for (unsigned row = 0; row < ROWS; row++)
        fill(rows + row * pitch, WIDTH, row);
}

static bool rows_held(const unsigned char *rows, size_t pitch)
{
    bool held = true;
    for (unsigned row = 0; row < ROWS; row++)
        held = held && holds(rows + row * pitch, WIDTH, row);
    return held;
}

static struct cudaMemcpy3DParms copy_of(void *host, void *device, enum cudaMemcpyKind kind)
{
    struct cudaPitchedPtr there = {device, WIDTH, WIDTH, HEIGHT};
    struct cudaPitchedPtr here = {host, PITCH, WIDTH, HEIGHT};
    bool up = kind == cudaMemcpyHostToDevice;
    return (struct cudaMemcpy3DParms){
        .srcPtr = up ? here : there,
        .dstPtr = up ? there : here,
        .extent = {WIDTH, HEIGHT, DEPTH},
        .kind = kind,
    };
}

static cudaGraphExec_t added(void *source, void *device)
{
    struct cudaMemcpy3DParms copy = copy_of(source, device, cudaMemcpyHostToDevice);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = NULL;
    CHECK(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &copy));
    return instantiate_only(graph);
}

static inline cudaGraphExec_t captured(void *result, void *device, cudaStream_t stream)
{
    struct cudaMemcpy3DParms copy = copy_of(result, device, cudaMemcpyDeviceToHost);
    begin_capture(stream);
    CHECK(cudaMemcpy3DAsync(&copy, stream));
    return instantiate_only(end_capture(stream));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    unsigned char *source = pinned_block(BYTES, WANTED);
    unsigned char *result = pinned_block(BYTES, 0);
    unsigned char *packed = pinned_block(BYTES / 2, 0);
    void *device = device_block(BYTES / 2, 0);
    void *filled = device_block(BYTES / 2, 0);
    cudaGraphExec_t up = added(source, device);
    cudaGraphExec_t down = captured(result, filled, stream);
    cudaGraphExec_t down_too = captured(result + WIDTH, filled, stream);
    bool beside = true;

    fill_rows(source, PITCH);
    fill_rows(packed, WIDTH);
    CHECK(cudaMemcpy(filled, packed, BYTES / 2, cudaMemcpyHostToDevice));
    for (int round = 0; round < 2; round++) {
        busy(stream);
        CHECK(cudaGraphLaunch(up, stream));
        CHECK(cudaGraphLaunch(down, stream));
        CHECK(cudaGraphLaunch(down_too, other));
        fill(source + WIDTH, PITCH - WIDTH, FOREIGN);
        fill(source + 3 * PITCH + WIDTH, PITCH - WIDTH, FOREIGN);
        CHECK(cudaStreamSynchronize(other));
        beside = beside && cudaStreamQuery(stream) == cudaErrorNotReady;
        CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaMemcpy(packed, device, BYTES / 2, cudaMemcpyDeviceToHost));
    return finish(beside && rows_held(packed, WIDTH) && rows_held(result, PITCH) &&
                  rows_held(result + WIDTH, PITCH));
}

// expect: SC304 action=rerouted certainty=observed event=cuMemcpyBatchAsync_v2
// in-place: wrong
//
// Many batches on a stream that captures, whose sources are to be read during the call and are
// overwritten behind it. What the graphs read instead lasts as long as their execs, and no longer.
#include "capture.h"

#include "tests/process_memory.h"

enum { ROUNDS = 100 };

static void copy(void *to, const void *from, cudaStream_t stream)
{
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall};
    size_t size = LARGE;
    size_t first = 0;
    if (fixed)
        TRY(cudaMemcpyAsync(to, from, size, cudaMemcpyHostToDevice, stream));
    else
        TRY(cudaMemcpyBatchAsync(&to, &from, &size, 1, &order, &first, 1, stream));
}

static bool use_graph(void *device, void *source, cudaStream_t stream)
{
    fill(source, LARGE, WANTED);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    copy(device, source, stream);
    cudaGraphExec_t exec = end_capture(stream, 1);
    if (!fixed)
        fill(source, LARGE, FOREIGN);
    CHECK(cudaMemset(device, 0, LARGE));
    CHECK(cudaDeviceSynchronize());
    replay(exec, stream);
    if (exec)
        CHECK(cudaGraphExecDestroy(exec));
    return device_holds(device, LARGE, WANTED);
}

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *source = pinned_block(LARGE, 0);
    for (int i = 0; i < 5; i++)
        right = use_graph(device, source, stream) && right;
    size_t before = resident_bytes();
    for (int i = 0; i < ROUNDS; i++)
        right = use_graph(device, source, stream) && right;
    return finish(!broken && right && resident_bytes() < before + ROUNDS / 2 * LARGE);
}

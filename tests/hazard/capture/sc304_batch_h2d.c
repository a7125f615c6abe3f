// expect: SC304 action=rerouted certainty=observed event=cuMemcpyBatchAsync_v2
//
// A batch of uploads on a stream that captures. The call fails, the capture does not, and the graph
// comes without the copies. What is replayed reads the sources anew.
#include "capture.h"

enum { COPIES = 3 };

static void upload(void **targets, const void **sources, cudaStream_t stream)
{
    size_t sizes[COPIES] = {SMALL, SMALL, SMALL};
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    size_t first = 0;
    if (!fixed) {
        TRY(cudaMemcpyBatchAsync(targets, sources, sizes, COPIES, &order, &first, 1, stream));
        return;
    }
    for (int i = 0; i < COPIES; i++)
        TRY(cudaMemcpyAsync(targets[i], sources[i], sizes[i], cudaMemcpyHostToDevice, stream));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *targets[COPIES];
    void *staging[COPIES];
    const void *sources[COPIES];
    for (int i = 0; i < COPIES; i++) {
        targets[i] = device_block(SMALL, 0);
        sources[i] = staging[i] = pinned_block(SMALL, FOREIGN);
    }

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    upload(targets, sources, stream);
    cudaGraphExec_t exec = end_capture(stream, COPIES);
    for (int i = 0; i < COPIES; i++)
        fill(staging[i], SMALL, WANTED + (unsigned)i);
    replay(exec, stream);

    bool right = true;
    for (int i = 0; i < COPIES; i++)
        right = right && device_holds(targets[i], SMALL, WANTED + (unsigned)i);
    return finish(!broken && right);
}

// expect: SC304 action=rerouted certainty=observed event=cuMemcpyBatchAsync_v2
//
// A batch of downloads on a blocking stream that captures, between two copies that the graph gets.
#include "capture.h"

enum { COPIES = 2 };

static void download(void **targets, const void **sources, cudaStream_t stream)
{
    size_t sizes[COPIES] = {SMALL, SMALL / 2};
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    size_t first = 0;
    if (!fixed) {
        TRY(cudaMemcpyBatchAsync(targets, sources, sizes, COPIES, &order, &first, 1, stream));
        return;
    }
    for (int i = 0; i < COPIES; i++)
        TRY(cudaMemcpyAsync(targets[i], sources[i], sizes[i], cudaMemcpyDeviceToHost, stream));
}

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *between = device_block(SMALL, 0);
    void *next = device_block(SMALL, FOREIGN);
    void *whole = pinned_block(SMALL, 0);
    void *half = pinned_block(SMALL / 2, 0);
    void *targets[COPIES] = {whole, half};
    const void *sources[COPIES] = {between, between};

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    capture_copy(between, from, stream);
    download(targets, sources, stream);
    capture_copy(between, next, stream);
    replay(end_capture(stream, 2 + COPIES), stream);

    return finish(!broken && holds(whole, SMALL, WANTED) && holds(half, SMALL / 2, WANTED) &&
                  device_holds(between, SMALL, FOREIGN));
}

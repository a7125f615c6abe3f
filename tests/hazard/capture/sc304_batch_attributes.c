// expect: SC304 action=rerouted certainty=observed event=cuMemcpyBatchAsync_v2
//
// A batch with two sets of attributes, up, down and across, on a stream that captures. None of its
// copies goes on with what another one does: their order is open.
#include "capture.h"

enum { COPIES = 3, SETS = 2 };

static void move(void **targets, const void **sources, cudaStream_t stream)
{
    size_t sizes[COPIES] = {SMALL / 2, SMALL, SMALL};
    struct cudaMemcpyAttributes orders[SETS] = {{.srcAccessOrder = cudaMemcpySrcAccessOrderStream},
                                                {.srcAccessOrder = cudaMemcpySrcAccessOrderAny}};
    size_t firsts[SETS] = {0, 2};
    if (!fixed) {
        TRY(cudaMemcpyBatchAsync(targets, sources, sizes, COPIES, orders, firsts, SETS, stream));
        return;
    }
    for (int i = 0; i < COPIES; i++)
        TRY(cudaMemcpyAsync(targets[i], sources[i], sizes[i], cudaMemcpyDefault, stream));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *up = device_block(SMALL / 2, 0);
    void *down = pinned_block(SMALL, 0);
    void *across = device_block(SMALL, 0);
    void *targets[COPIES] = {up, down, across};
    const void *sources[COPIES] = {pinned_block(SMALL / 2, FOREIGN), from, from};

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    move(targets, sources, stream);
    replay(end_capture(stream, COPIES), stream);

    return finish(!broken && device_holds(up, SMALL / 2, FOREIGN) && holds(down, SMALL, WANTED) &&
                  device_holds(across, SMALL, WANTED));
}

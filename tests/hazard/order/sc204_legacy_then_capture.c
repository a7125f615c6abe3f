// expect: SC204 action=ordered kind=pinned certainty=observed
// expect: SC201 action=stalled kind=pinned certainty=observed
// not-by: ranges
//
// Several copies wait on the legacy stream when a blocking stream begins to capture. From then on
// the legacy stream itself cannot be asked how far it is.
#include "capture.h"

#include <time.h>

enum { COPIES = 8 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void)
{
    void *to[COPIES], *buffers[COPIES];
    cudaStream_t down = new_stream();
    cudaStream_t captured = blocking_stream();
    void *from = device_block(SMALL, FOREIGN);
    void *in_graph = device_block(SMALL, 0);
    for (int i = 0; i < COPIES; i++) {
        to[i] = device_block(SMALL, 0);
        buffers[i] = pinned_block(SMALL, WANTED);
    }

    busy(NULL);
    for (int i = 0; i < COPIES; i++)
        CHECK(cudaMemcpyAsync(to[i], buffers[i], SMALL, cudaMemcpyHostToDevice, NULL));
    if (fixed)
        CHECK(cudaStreamSynchronize(NULL));
    CHECK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal));
    capture_copy(in_graph, from, captured);
    CHECK(cudaMemcpyAsync(buffers[COPIES - 1], from, SMALL, cudaMemcpyDeviceToHost, down));
    double begun = seconds();
    fill(buffers[COPIES - 2], SMALL, FOREIGN);
    bool prompt = seconds() - begun < 5;
    cudaGraphExec_t exec = end_capture(captured, 1);
    CHECK(cudaDeviceSynchronize());
    replay(exec, captured);

    bool right = prompt && holds(buffers[COPIES - 1], SMALL, FOREIGN);
    for (int i = 0; i < COPIES; i++)
        right = right && device_holds(to[i], SMALL, WANTED);
    return finish(right && device_holds(in_graph, SMALL, FOREIGN));
}

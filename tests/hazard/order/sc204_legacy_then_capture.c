// expect: SC204 action=ordered kind=pinned certainty=observed
// expect: SC201 action=stalled kind=pinned certainty=observed
// not-by: ranges
// options: stall_limit=1000s
//
// Several copies wait on the legacy stream when a blocking stream begins to capture. From then on
// the legacy stream itself cannot be asked how far it is. A wait that ends by its limit alone is
// longer than the program may take.
#include "capture.h"

enum { COPIES = 8 };

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
    fill(buffers[COPIES - 2], SMALL, FOREIGN);
    cudaGraphExec_t exec = end_capture(captured, 1);
    CHECK(cudaDeviceSynchronize());
    replay(exec, captured);

    bool right = holds(buffers[COPIES - 1], SMALL, FOREIGN);
    for (int i = 0; i < COPIES; i++)
        right = right && device_holds(to[i], SMALL, WANTED);
    return finish(right && device_holds(in_graph, SMALL, FOREIGN));
}

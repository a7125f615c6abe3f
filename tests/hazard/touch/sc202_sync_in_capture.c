// expect: SC202 action=stalled kind=pinned certainty=observed event=cuMemcpyHtoD_v2
// expect: SC301 action=rerouted certainty=observed event=cuMemcpyHtoD_v2
//
// While a blocking stream captures, the synchronous copy runs elsewhere than in the legacy stream.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t capturing = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *in_graph = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(to, between, SMALL, cudaMemcpyHostToDevice));
    }
    CHECK(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeThreadLocal));
    if (!fixed)
        TRY(cudaMemcpy(to, between, SMALL, cudaMemcpyHostToDevice));
    capture_copy(in_graph, to, capturing);
    replay(end_capture(capturing, 1), capturing);

    CHECK(cudaDeviceSynchronize());
    return finish(!broken && device_holds(to, SMALL, WANTED) &&
                  device_holds(in_graph, SMALL, WANTED));
}

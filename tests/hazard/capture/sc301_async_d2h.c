// expect: SC301 action=rerouted certainty=observed event=cuMemcpyDtoHAsync_v2
//
// An asynchronous copy to pinned memory, on the legacy stream instead of one of its own, while a
// blocking stream captures. The program waits for it after the capture.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaStream_t downloads = fixed ? new_stream() : 0;
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, FOREIGN);
    void *read = device_block(SMALL, FOREIGN);
    void *target = pinned_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    capture_copy(to, from, stream);
    TRY(cudaMemcpyAsync(target, read, SMALL, cudaMemcpyDeviceToHost, downloads));
    cudaGraphExec_t exec = end_capture(stream, 1);
    CHECK(cudaStreamSynchronize(downloads));
    bool right = holds(target, SMALL, FOREIGN);

    replay(exec, stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}

// expect: SC301 action=rerouted certainty=observed event=cuMemcpyDtoH_v2
//
// Another thread copies on the legacy stream while a blocking stream captures. That the capture is
// ThreadLocal does not help. Fixed, the thread has a stream of its own.
#include "capture.h"

static void *from;
static void *result;

static void *download(void *unused)
{
    if (fixed) {
        cudaStream_t stream = new_stream();
        TRY(cudaMemcpyAsync(result, from, SMALL, cudaMemcpyDeviceToHost, stream));
        TRY(cudaStreamSynchronize(stream));
    } else {
        TRY(cudaMemcpy(result, from, SMALL, cudaMemcpyDeviceToHost));
    }
    return unused;
}

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *to = device_block(SMALL, 0);
    from = device_block(SMALL, WANTED);
    result = filled_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    capture_copy(to, from, stream);
    on_other_thread(download, NULL);
    bool right = holds(result, SMALL, WANTED);

    replay(end_capture(stream, 1), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}

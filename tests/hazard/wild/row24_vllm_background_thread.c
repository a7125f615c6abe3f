// expect: SC303 action=rerouted certainty=observed
//
// docs/wild-bugs.md, row 24: a background thread registers the cache that it will offload to, and
// asks whether its last transfer is complete, while the engine's thread captures. Fixed, the engine
// captures in the ThreadLocal mode.
#include "capture.h"

static void *cache;
static cudaEvent_t sent;

static void *offload(void *unused)
{
    TRY(cudaHostRegister(cache, LARGE, cudaHostRegisterDefault));
    TRY(cudaEventQuery(sent));
    return unused;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t transfers = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    cache = separate_block(LARGE, 0);
    sent = new_event();
    CHECK(cudaEventRecord(sent, transfers));
    CHECK(cudaStreamSynchronize(transfers));

    CHECK(cudaStreamBeginCapture(stream, fixed ? cudaStreamCaptureModeThreadLocal
                                               : cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    on_other_thread(offload, NULL);
    replay(end_capture(stream, 1), stream);
    CHECK(broken ? cudaSuccess
                 : cudaMemcpyAsync(cache, to, SMALL, cudaMemcpyDeviceToHost, transfers));
    CHECK(cudaStreamSynchronize(transfers));
    return finish(!broken && holds(cache, SMALL, WANTED));
}

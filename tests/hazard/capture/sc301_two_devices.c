// expect: SC301 action=rerouted certainty=observed
// sim: devices=2
// needs: multi-gpu
//
// A blocking stream of another device joins the capture, and the legacy stream of that device is
// used meanwhile, behind a stream that is busy. What follows there comes after it.
#include "capture.h"

static int last_device(void)
{
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    return devices - 1;
}

int main(void)
{
    int last = last_device();
    if (last == 0 && !fixed) /* with one device the fixed build is all that can be shown */
        return finish(true);
    cudaStream_t stream = blocking_stream();
    cudaEvent_t fork = new_event();
    CHECK(cudaSetDevice(last));
    cudaStream_t side = blocking_stream();
    cudaStream_t slow = new_stream();
    cudaStream_t uploads = fixed ? new_stream() : cudaStreamLegacy;
    cudaEvent_t join = new_event();
    cudaEvent_t done = new_event();
    void *device = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    cudaGraph_t graph = NULL;

    busy(slow);
    CHECK(cudaEventRecord(done, slow));
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaSetDevice(last));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    TRY(cudaStreamWaitEvent(uploads, done, 0));
    TRY(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, uploads));
    TRY(cudaEventRecord(join, side));
    CHECK(cudaSetDevice(0));
    TRY(cudaStreamWaitEvent(stream, join, 0));
    if (TRY(cudaStreamEndCapture(stream, &graph)))
        CHECK(cudaGraphDestroy(graph));

    CHECK(cudaSetDevice(last));
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, uploads));
    CHECK(cudaStreamSynchronize(uploads));
    return finish(!broken && holds(target, SMALL, WANTED));
}

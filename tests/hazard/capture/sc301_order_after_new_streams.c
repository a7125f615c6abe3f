// expect: SC301 action=rerouted certainty=observed
//
// The legacy stream is busy with what it was given during the capture when streams that it has not
// met come for the result: one that is made now, and the per-thread default stream of a new thread.
#include "capture.h"

static void *from;
static cudaEvent_t uploaded;

static bool download(cudaStream_t stream)
{
    void *target = pinned_block(SMALL, 0);
    if (fixed)
        CHECK(cudaStreamWaitEvent(stream, uploaded, 0));
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    return holds(target, SMALL, WANTED);
}

static void *download_elsewhere(void *right)
{
    *(bool *)right = download(cudaStreamPerThread);
    return NULL;
}

static void upload(const void *source, cudaStream_t stream)
{
    TRY(cudaLaunchHostFunc(stream, sleep_in_stream, NULL));
    TRY(cudaMemcpyAsync(from, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaEventRecord(uploaded, stream));
}

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaStream_t uploads = fixed ? new_stream() : cudaStreamLegacy;
    void *source = pinned_block(SMALL, WANTED);
    void *again = pinned_block(SMALL, FOREIGN);
    cudaGraph_t graph = NULL;
    bool right_there = false;
    from = device_block(SMALL, 0);
    uploaded = new_event();

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    upload(source, uploads);
    bool right_here = download(blocking_stream());
    upload(again, uploads);
    upload(source, uploads);
    on_other_thread(download_elsewhere, &right_there);
    if (TRY(cudaStreamEndCapture(stream, &graph)))
        CHECK(cudaGraphDestroy(graph));
    return finish(!broken && right_here && right_there);
}

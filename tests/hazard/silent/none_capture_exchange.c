// expect: none
//
// The program knows what a capture forbids and exchanges its mode around it, on the thread that
// captures and on another one, and has its own mode back each time.
#include "capture.h"

static void *allocate(void *block)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    if (mode != cudaStreamCaptureModeGlobal)
        exit(3);
    CHECK(cudaMalloc((void **)block, SMALL));
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    if (mode != cudaStreamCaptureModeRelaxed)
        exit(3);
    return NULL;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *one = NULL;
    void *two = NULL;

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    allocate(&one);
    capture_copy(one, from, stream);
    on_other_thread(allocate, &two);
    capture_copy(two, one, stream);
    replay(end_capture(stream, 2), stream);
    return finish(!broken && device_holds(two, SMALL, WANTED));
}

// expect: none
//
// A Relaxed capture begins on one thread, goes on on another and ends on a third. No thread of them
// is held to anything.
#include "capture.h"

static cudaStream_t stream;
static void *from;
static void *to;

static void *capture_more(void *block)
{
    CHECK(cudaMalloc((void **)block, SMALL));
    capture_copy(*(void **)block, from, stream);
    return NULL;
}

static void *end(void *exec)
{
    *(cudaGraphExec_t *)exec = end_capture(stream, 2);
    return NULL;
}

int main(void)
{
    void *between = NULL;
    cudaGraphExec_t exec = NULL;
    stream = blocking_stream();
    from = device_block(SMALL, WANTED);
    to = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    on_other_thread(capture_more, &between);
    capture_copy(to, between, stream);
    on_other_thread(end, &exec);

    replay(exec, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}

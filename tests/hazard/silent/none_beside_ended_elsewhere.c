// expect: none
//
// A capture in relaxed mode is ended by another thread, and launched there. What the thread that
// began it does behind its end is beside nothing, though it does it with the same memory.
#include "left_out.h"

static cudaStream_t stream;
static cudaGraphExec_t exec;

static void *end_here(void *unused)
{
    exec = end_capture(stream, 1);
    return unused;
}

int main(void)
{
    bool right = true;
    stream = new_stream();
    void *source = pinned_block(SMALL, 0);
    void *input = device_block(SMALL, FOREIGN);
    void *result = device_block(SMALL, 0);
    void *seen = pinned_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    capture_copy(result, input, stream);
    on_other_thread(end_here, NULL);
    CHECK(cudaMemcpy(seen, result, SMALL, cudaMemcpyDeviceToHost));
    for (unsigned step = 1; step < 4; step++) {
        fill(source, SMALL, step);
        CHECK(cudaMemcpy(input, source, SMALL, cudaMemcpyHostToDevice));
        replay(exec, stream);
        replay(exec, stream);
        right = device_holds(result, SMALL, step) && right;
    }
    return finish(!broken && right);
}

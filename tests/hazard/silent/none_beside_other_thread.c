// expect: none
//
// Another thread uploads what the graph reads while this one captures, and so does that one: what
// it uploads belongs to no step of this one.
#include "left_out.h"

static void *source, *input, *from, *to;

static void *upload(void *unused)
{
    cudaStream_t stream = new_stream();
    cudaStream_t own = new_stream();
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal));
    capture_copy(to, from, own);
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, 0));
    CHECK(cudaGraphExecDestroy(end_capture(own, 1)));
    return unused;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *result = device_block(SMALL, 0);
    source = pinned_block(SMALL, WANTED);
    input = device_block(SMALL, 0);
    from = device_block(SMALL, 0);
    to = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    on_other_thread(upload, NULL);
    capture_copy(result, input, stream);
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaDeviceSynchronize());
    replay(exec, stream);
    replay(exec, stream);
    return finish(!broken && device_holds(result, SMALL, WANTED));
}

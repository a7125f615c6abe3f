// expect: none
// options: stall_limit=60s
//
// A graph's host node reads the result of a copy that stands before the launch, and fills the
// source of one behind it on the same stream and of one behind it on another: who waited there for
// those copies would wait for himself.
#include "graphs.h"

struct buffers {
    void *result, *near, *far;
    bool right;
};

static void read_and_fill(void *argument)
{
    struct buffers *buffers = (struct buffers *)argument;
    buffers->right = holds(buffers->result, SMALL, WANTED);
    fill(buffers->near, SMALL, WANTED);
    fill(buffers->far, SMALL, WANTED);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t launched = new_event();
    void *from = device_block(SMALL, WANTED);
    void *near = device_block(SMALL, 0);
    void *far = device_block(SMALL, 0);
    struct buffers buffers = {pinned_block(SMALL, 0), pinned_block(SMALL, 0),
                              pinned_block(SMALL, 0), false};
    begin_capture(stream);
    CHECK(cudaLaunchHostFunc(stream, read_and_fill, &buffers));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    busy(stream);
    CHECK(cudaMemcpyAsync(buffers.result, from, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaMemcpyAsync(near, buffers.near, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(launched, stream));
    CHECK(cudaStreamWaitEvent(other, launched, 0));
    CHECK(cudaMemcpyAsync(far, buffers.far, SMALL, cudaMemcpyHostToDevice, other));

    CHECK(cudaDeviceSynchronize());
    return finish(buffers.right && device_holds(near, SMALL, WANTED) &&
                  device_holds(far, SMALL, WANTED));
}

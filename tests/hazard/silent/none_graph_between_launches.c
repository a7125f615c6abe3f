// expect: none
//
// An exec that is there but not in flight keeps nobody from its buffers, while other work runs in
// the stream.
#include "graphs.h"
#include "touch.h"

int main(void)
{
    struct gate gate = {0};
    cudaStream_t stream = new_stream();
    cudaEvent_t done = new_event();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, 0);
    cudaGraphExec_t exec = captured_exec(device, input, SMALL, cudaMemcpyHostToDevice, stream);

    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventRecord(done, stream));
    shut_gate(&gate, stream);
    CHECK(cudaEventSynchronize(done));
    fill(input, SMALL, WANTED);
    open_gate(&gate);
    replay(exec, stream);
    return finish(!gate.gave_up && device_holds(device, SMALL, WANTED));
}

// expect: SC501 action=stalled kind=device direction=H2D event=cuGraphLaunch certainty=observed
// in-place: SC501 action=ordered kind=device direction=H2D event=cuGraphLaunch certainty=observed
// options: device=1
//
// A launch that downloads into pageable memory, and so returns when it is complete, reads what
// another stream is still to upload.
#include "graphs.h"

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t down = new_stream();
    cudaEvent_t uploaded = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *target = filled_block(SMALL, 0);
    void *input = device_block(SMALL, FOREIGN);
    cudaGraphExec_t exec = captured_exec(target, input, SMALL, cudaMemcpyDeviceToHost, down);

    busy(up);
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, up));
    CHECK(cudaEventRecord(uploaded, up));
    if (fixed)
        CHECK(cudaStreamWaitEvent(down, uploaded, 0));
    CHECK(cudaGraphLaunch(exec, down));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, WANTED));
}

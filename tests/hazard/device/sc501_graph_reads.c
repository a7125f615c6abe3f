// expect: SC501 action=ordered kind=device direction=H2D event=cuGraphLaunch certainty=observed
// options: device=1
//
// A graph is launched that copies within the device what another stream is still to upload.
#include "graphs.h"

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t work = new_stream();
    cudaEvent_t uploaded = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *input = device_block(SMALL, FOREIGN);
    void *result = device_block(SMALL, 0);
    cudaGraphExec_t exec = captured_exec(result, input, SMALL, cudaMemcpyDeviceToDevice, work);

    busy(up);
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, up));
    CHECK(cudaEventRecord(uploaded, up));
    if (fixed)
        CHECK(cudaStreamWaitEvent(work, uploaded, 0));
    CHECK(cudaGraphLaunch(exec, work));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, SMALL, WANTED));
}

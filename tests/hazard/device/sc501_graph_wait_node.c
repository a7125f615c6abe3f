// expect: SC501 action=ordered kind=device direction=H2D event=cuGraphLaunch certainty=observed
// options: device=1
//
// A node of a graph waits for an event, and a copy behind it reads what another stream uploads. The
// racy build records the event before the upload.
#include "graphs.h"

int main(void)
{
    cudaStream_t up = new_stream(), work = new_stream();
    cudaEvent_t uploaded = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *input = device_block(SMALL, FOREIGN), *result = device_block(SMALL, 0);
    begin_capture(work);
    CHECK(cudaStreamWaitEvent(work, uploaded, cudaEventWaitExternal));
    CHECK(cudaMemcpyAsync(result, input, SMALL, cudaMemcpyDeviceToDevice, work));
    cudaGraphExec_t exec = instantiate_only(end_capture(work));

    busy(up);
    if (!fixed)
        CHECK(cudaEventRecord(uploaded, up));
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, up));
    if (fixed)
        CHECK(cudaEventRecord(uploaded, up));
    CHECK(cudaGraphLaunch(exec, work));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, SMALL, WANTED));
}

// expect: SC501 action=ordered kind=device direction=H2D event=cuGraphLaunch certainty=observed
// options: device=1
//
// A graph allocates memory, copies there what another stream is still to upload, and from there to
// the result, and frees the memory. What it does with the upload is judged all the same.
#include "graphs.h"

int main(void)
{
    cudaStream_t up = new_stream(), work = new_stream();
    cudaEvent_t uploaded = new_event();
    void *source = pinned_block(SMALL, WANTED), *between = NULL;
    void *input = device_block(SMALL, FOREIGN), *result = device_block(SMALL, 0);
    begin_capture(work);
    CHECK(cudaMallocAsync(&between, SMALL, work));
    CHECK(cudaMemcpyAsync(between, input, SMALL, cudaMemcpyDeviceToDevice, work));
    CHECK(cudaMemcpyAsync(result, between, SMALL, cudaMemcpyDeviceToDevice, work));
    CHECK(cudaFreeAsync(between, work));
    cudaGraphExec_t exec = instantiate_only(end_capture(work));

    busy(up);
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, up));
    CHECK(cudaEventRecord(uploaded, up));
    if (fixed)
        CHECK(cudaStreamWaitEvent(work, uploaded, 0));
    CHECK(cudaGraphLaunch(exec, work));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, SMALL, WANTED));
}

// expect: SC204 action=ordered kind=pinned direction=D2H event=cuGraphLaunch certainty=observed
//
// A graph waits for the event of a download in one branch, and sends what was downloaded in another
// one, which no edge puts behind the wait. In the fixed build the launch waits for the event
// itself.
#include "graphs.h"

int main(void)
{
    cudaStream_t down = new_stream(), work = new_stream(), branch = new_stream();
    cudaEvent_t arrived = new_event(), forked = new_event(), joined = new_event();
    void *image = device_block(SMALL, WANTED), *result = device_block(SMALL, 0);
    void *buffer = pinned_block(SMALL, FOREIGN);
    begin_capture(work);
    CHECK(cudaEventRecord(forked, work));
    CHECK(cudaStreamWaitEvent(branch, forked, 0));
    CHECK(cudaMemcpyAsync(result, buffer, SMALL, cudaMemcpyHostToDevice, branch));
    CHECK(cudaStreamWaitEvent(work, arrived, cudaEventWaitExternal));
    CHECK(cudaEventRecord(joined, branch));
    CHECK(cudaStreamWaitEvent(work, joined, 0));
    cudaGraphExec_t exec = instantiate_only(end_capture(work));

    busy(down);
    CHECK(cudaMemcpyAsync(buffer, image, SMALL, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(arrived, down));
    if (fixed)
        CHECK(cudaStreamWaitEvent(work, arrived, 0));
    CHECK(cudaGraphLaunch(exec, work));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, SMALL, WANTED));
}

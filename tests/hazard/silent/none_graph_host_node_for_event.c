// expect: none
//
// A graph waits for an event behind a copy on another stream, and has a host node behind that wait.
// The host node raises a flag, for which the program waits before it fills the source.
#include "flag.h"
#include "graphs.h"

int main(void)
{
    atomic_int flag = 0;
    cudaStream_t copies = new_stream();
    cudaStream_t stream = new_stream();
    cudaEvent_t copied = new_event();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    begin_capture(stream);
    CHECK(cudaStreamWaitEvent(stream, copied, cudaEventWaitExternal));
    CHECK(cudaLaunchHostFunc(stream, raise_flag, &flag));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    busy(copies);
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, copies));
    CHECK(cudaEventRecord(copied, copies));
    CHECK(cudaGraphLaunch(exec, stream));
    while (atomic_load(&flag) == 0)
        usleep(500);
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}

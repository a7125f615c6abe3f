// expect: SC403 action=stalled certainty=observed
//
// A loop that refills the input of a graph as soon as cudaEventQuery says that it may. The racy
// build asks for the event of another stream.
#include "graphs.h"

enum { TURNS = 3 };

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t event = new_event();
    void *devices[TURNS];
    void *input = pinned_block(SMALL, 0);
    void *device = device_block(SMALL, 0);
    cudaGraphExec_t exec = captured_exec(device, input, SMALL, cudaMemcpyHostToDevice, stream);
    for (int turn = 0; turn < TURNS; turn++)
        devices[turn] = device_block(SMALL, 0);

    for (int turn = 0; turn < TURNS; turn++) {
        cudaError_t result;
        while ((result = cudaEventQuery(event)) == cudaErrorNotReady)
            usleep(500);
        CHECK(result);
        fill(input, SMALL, WANTED + turn);
        busy(stream);
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaEventRecord(event, fixed ? stream : other));
        CHECK(cudaMemcpyAsync(devices[turn], device, SMALL, cudaMemcpyDeviceToDevice, stream));
    }

    CHECK(cudaDeviceSynchronize());
    bool right = true;
    for (int turn = 0; turn < TURNS; turn++)
        right = right && device_holds(devices[turn], SMALL, WANTED + turn);
    return finish(right);
}

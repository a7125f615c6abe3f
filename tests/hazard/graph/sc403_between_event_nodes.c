// expect: SC403 action=stalled
//
// Two copies, each with a node behind it that records an event. The program fills the first source
// when it has heard of the first event, and the second one when it has heard of the second. The
// racy build does both after the first.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t copied[2] = {new_event(), new_event()};
    void *devices[2] = {device_block(SMALL, 0), device_block(SMALL, 0)};
    void *inputs[2] = {pinned_block(SMALL, WANTED), pinned_block(SMALL, WANTED)};
    begin_capture(stream);
    for (int i = 0; i < 2; i++) {
        CHECK(cudaMemcpyAsync(devices[i], inputs[i], SMALL, cudaMemcpyHostToDevice, stream));
        CHECK(cudaEventRecordWithFlags(copied[i], stream, cudaEventRecordExternal));
    }
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    for (int turn = 0; turn < 3; turn++) {
        fill(inputs[0], SMALL, WANTED);
        fill(inputs[1], SMALL, WANTED);
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaEventSynchronize(copied[0]));
        fill(inputs[0], SMALL, FOREIGN);
        if (fixed || turn < 2)
            CHECK(cudaEventSynchronize(copied[1]));
        fill(inputs[1], SMALL, FOREIGN);
    }

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(devices[0], SMALL, WANTED) &&
                  device_holds(devices[1], SMALL, WANTED));
}

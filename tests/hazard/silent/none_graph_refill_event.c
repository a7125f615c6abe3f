// expect: none
//
// Two graphs with an input each: one is filled while the other one's launch is in flight, each when
// the event behind its own launch has come.
#include "graphs.h"

enum { TURNS = 20 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *results[TURNS];
    void *devices[2];
    void *inputs[2];
    cudaEvent_t launched[2];
    cudaGraphExec_t execs[2];
    for (int i = 0; i < 2; i++) {
        devices[i] = device_block(SMALL, 0);
        inputs[i] = pinned_block(SMALL, 0);
        launched[i] = new_event();
        execs[i] = captured_exec(devices[i], inputs[i], SMALL, cudaMemcpyHostToDevice, stream);
    }
    for (int turn = 0; turn < TURNS; turn++)
        results[turn] = device_block(SMALL, 0);

    for (int turn = 0; turn < TURNS; turn++) {
        int i = turn % 2;
        CHECK(cudaEventSynchronize(launched[i]));
        fill(inputs[i], SMALL, turn);
        CHECK(cudaGraphLaunch(execs[i], stream));
        CHECK(cudaEventRecord(launched[i], stream));
        CHECK(cudaMemcpyAsync(results[turn], devices[i], SMALL, cudaMemcpyDeviceToDevice, stream));
    }

    CHECK(cudaDeviceSynchronize());
    bool right = true;
    for (int turn = 0; turn < TURNS; turn++)
        right = right && device_holds(results[turn], SMALL, turn);
    return finish(right);
}

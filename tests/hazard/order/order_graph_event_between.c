// expect: SC204 action=ordered certainty=observed
//
// As order_graph_two_execs, on two streams and with an event between the launches, which the racy
// build records too early.
#include "graphs.h"

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    cudaEvent_t arrived = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);
    cudaGraphExec_t down = captured_exec(between, from, SMALL, cudaMemcpyDeviceToHost, first);
    cudaGraphExec_t up = captured_exec(to, between, SMALL, cudaMemcpyHostToDevice, second);

    if (!fixed)
        CHECK(cudaEventRecord(arrived, first));
    busy(first);
    CHECK(cudaGraphLaunch(down, first));
    if (fixed)
        CHECK(cudaEventRecord(arrived, first));
    CHECK(cudaStreamWaitEvent(second, arrived, 0));
    CHECK(cudaGraphLaunch(up, second));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}

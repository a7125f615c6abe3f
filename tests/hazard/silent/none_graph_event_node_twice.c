// expect: none
//
// Two nodes of a graph record one event, so that nobody knows of which of them the program has
// heard. It touches what it has from the first of them, and in the end all.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t copied = new_event();
    void *devices[2] = {device_block(SMALL, 0), device_block(SMALL, 0)};
    void *inputs[2] = {pinned_block(SMALL, WANTED), pinned_block(SMALL, WANTED)};
    begin_capture(stream);
    for (int i = 0; i < 2; i++) {
        CHECK(cudaMemcpyAsync(devices[i], inputs[i], SMALL, cudaMemcpyHostToDevice, stream));
        CHECK(cudaEventRecordWithFlags(copied, stream, cudaEventRecordExternal));
    }
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventSynchronize(copied));
    fill(inputs[0], SMALL, FOREIGN);
    CHECK(cudaEventSynchronize(copied));
    CHECK(cudaStreamSynchronize(stream));
    fill(inputs[1], SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(devices[0], SMALL, WANTED) &&
                  device_holds(devices[1], SMALL, WANTED));
}

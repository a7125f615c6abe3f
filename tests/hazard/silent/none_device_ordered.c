// expect: none
// options: device=1
//
// Device memory is handed from stream to stream by events, by the legacy stream, by a wait of the
// host, by a query, and by a host function that the host waits for.
#include "twin.h"

#include <stdatomic.h>

static void CUDART_CB post(void *flag)
{
    atomic_store((_Atomic bool *)flag, true);
}

static void await(_Atomic bool *flag)
{
    while (!atomic_load(flag))
        usleep(100);
}

int main(void)
{
    cudaStream_t streams[] = {new_stream(), new_stream(), blocking_stream(), blocking_stream()};
    cudaEvent_t done = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    void *device = device_block(SMALL, FOREIGN);
    static _Atomic bool posted;

    busy(streams[0]);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, streams[0]));
    CHECK(cudaEventRecord(done, streams[0]));
    CHECK(cudaStreamWaitEvent(streams[2], done, 0));
    CHECK(cudaMemsetAsync(device, 0, SMALL, streams[2]));
    CHECK(cudaMemsetAsync(device, 1, SMALL, cudaStreamLegacy));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, streams[3]));
    CHECK(cudaStreamSynchronize(streams[3]));
    CHECK(cudaMemsetAsync(device, 2, SMALL, streams[1]));
    while (cudaStreamQuery(streams[1]) == cudaErrorNotReady)
        usleep(100);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, streams[0]));
    CHECK(cudaLaunchHostFunc(streams[0], post, &posted));
    await(&posted);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, streams[1]));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, WANTED));
}

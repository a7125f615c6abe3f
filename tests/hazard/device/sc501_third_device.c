// expect: SC501 action=ordered direction=D2D event=cuMemcpyPeerAsync
// sim: devices=4
// options: device=1
// needs: multi-gpu
//
// What device 0 sends to device 1, device 2 (or 0, of two) fetches from there in a stream that
// nothing has put behind it.
#include "peers.h"

int main(void)
{
    const int middle = second_device();
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    const int third = devices > 2 ? 2 : 0;
    cudaStream_t send = stream_of(0), fetch = stream_of(third);
    cudaEvent_t sent = event_of(0);
    void *from = block_of(0, SMALL, WANTED);
    void *between = block_of(middle, SMALL, FOREIGN);
    void *to = block_of(third, SMALL, 0);

    CHECK(cudaSetDevice(0));
    busy(send);
    CHECK(cudaMemcpyPeerAsync(between, middle, from, 0, SMALL, send));
    CHECK(cudaEventRecord(sent, send));
    CHECK(cudaSetDevice(third));
    if (fixed)
        CHECK(cudaStreamWaitEvent(fetch, sent, 0));
    CHECK(cudaMemcpyPeerAsync(to, third, between, middle, SMALL, fetch));

    synchronize(middle);
    CHECK(cudaSetDevice(third));
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}

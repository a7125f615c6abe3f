// expect: SC501 action=ordered origin=cuMemAlloc_v2 direction=H2D event=cuMemcpyPeerAsync
// sim: devices=2
// options: device=1
// needs: multi-gpu
//
// Memory of one device is uploaded in a stream of its own, and a stream of another device fetches
// it from there before that is done.
#include "peers.h"

int main(void)
{
    const int other = second_device();
    cudaStream_t up = stream_of(0);
    cudaEvent_t uploaded = event_of(0);
    cudaStream_t fetch = stream_of(other);
    void *from = block_of(0, SMALL, FOREIGN);
    void *to = block_of(other, SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);

    CHECK(cudaSetDevice(0));
    busy(up);
    CHECK(cudaMemcpyAsync(from, source, SMALL, cudaMemcpyHostToDevice, up));
    CHECK(cudaEventRecord(uploaded, up));
    CHECK(cudaSetDevice(other));
    if (fixed)
        CHECK(cudaStreamWaitEvent(fetch, uploaded, 0));
    CHECK(cudaMemcpyPeerAsync(to, other, from, 0, SMALL, fetch));

    synchronize(other);
    return finish(device_holds(to, SMALL, WANTED));
}

// expect: SC501 action=ordered origin=cuMemAlloc_v2 direction=D2D event=cuMemcpyDtoHAsync_v2
// sim: devices=2
// options: device=1
// needs: multi-gpu
//
// A stream of one device sends memory to another, where a stream downloads it before it has come.
#include "peers.h"

int main(void)
{
    const int other = second_device();
    cudaStream_t send = stream_of(0);
    cudaEvent_t sent = event_of(0);
    cudaStream_t down = stream_of(other);
    void *from = block_of(0, SMALL, WANTED);
    void *to = block_of(other, SMALL, FOREIGN);
    void *target = pinned_block(SMALL, 0);

    CHECK(cudaSetDevice(0));
    busy(send);
    CHECK(cudaMemcpyPeerAsync(to, other, from, 0, SMALL, send));
    CHECK(cudaEventRecord(sent, send));
    CHECK(cudaSetDevice(other));
    if (fixed)
        CHECK(cudaStreamWaitEvent(down, sent, 0));
    CHECK(cudaMemcpyAsync(target, to, SMALL, cudaMemcpyDeviceToHost, down));

    synchronize(other);
    return finish(holds(target, SMALL, WANTED));
}

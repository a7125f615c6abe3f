// expect: none
// sim: devices=2
// options: device=1
// needs: multi-gpu
// needs: sim
//
// Two devices exchange memory: by halves at once, which have no byte in common; back again in order
// by events; and by synchronous peer copies, which wait for both devices' work, as all later work
// of both waits for them. (By their contract: on two H100 the data was wrong, with streams that do
// not wait for the legacy one.)
#include "peers.h"

int main(void)
{
    const int other = second_device();
    open_to_each_other(other);
    cudaStream_t here = stream_of(0);
    cudaEvent_t sent = event_of(0);
    cudaStream_t there = stream_of(other);
    cudaEvent_t fetched = event_of(other);
    char *from = block_of(0, 2 * SMALL, WANTED);
    char *to = block_of(other, 2 * SMALL, FOREIGN);

    CHECK(cudaSetDevice(0));
    busy(here);
    CHECK(cudaMemcpyPeerAsync(to, other, from, 0, SMALL, here));
    CHECK(cudaEventRecord(sent, here));
    CHECK(cudaSetDevice(other));
    busy(there);
    CHECK(cudaMemcpyPeerAsync(to + SMALL, other, from + SMALL, 0, SMALL, there));
    CHECK(cudaEventRecord(fetched, there));

    CHECK(cudaStreamWaitEvent(there, sent, 0));
    CHECK(cudaMemsetAsync(from, 0, SMALL, there));
    CHECK(cudaMemcpyPeerAsync(from, 0, to, other, SMALL, there));
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamWaitEvent(here, fetched, 0));
    CHECK(cudaMemsetAsync(from + SMALL, 0, SMALL, here));
    CHECK(cudaMemcpyPeer(from + SMALL, 0, to + SMALL, other, SMALL));
    CHECK(cudaMemsetAsync(to, 0, 2 * SMALL, here));
    const struct cudaMemcpy3DPeerParms all = {
        .srcPtr = {from, SMALL, SMALL, 2},
        .srcDevice = 0,
        .dstPtr = {to, SMALL, SMALL, 2},
        .dstDevice = other,
        .extent = {SMALL, 2, 1},
    };
    CHECK(cudaMemcpy3DPeer(&all));
    CHECK(cudaSetDevice(other));
    CHECK(cudaMemsetAsync(from, 0, 2 * SMALL, there));

    synchronize(other);
    return finish(device_holds(to, 2 * SMALL, WANTED));
}

// expect: SC105 action=deferred certainty=observed origin=cuMemHostAlloc
// sim: devices=4
// needs: multi-gpu
//
// Each device fetches the same portable pinned memory. The host waits for all devices but the last
// one, and the device that has made the memory frees it.
#include "peers.h"

enum { DEVICES = 8 };

int main(void)
{
    cudaStream_t streams[DEVICES];
    void *blocks[DEVICES];
    void *source = NULL;
    int last = 0;
    bool right = second_device() >= 0;
    CHECK(cudaGetDeviceCount(&last));
    last = last > DEVICES ? DEVICES - 1 : last - 1;
    CHECK(cudaSetDevice(0));
    CHECK(cudaHostAlloc(&source, SMALL, cudaHostAllocPortable));
    fill(source, SMALL, WANTED);
    for (int i = 0; i <= last; i++) {
        streams[i] = stream_of(i);
        blocks[i] = block_of(i, SMALL, 0);
    }
    for (int i = 0; i <= last; i++) {
        CHECK(cudaSetDevice(i));
        if (i == last)
            busy(streams[i]);
        CHECK(cudaMemcpyAsync(blocks[i], source, SMALL, cudaMemcpyHostToDevice, streams[i]));
    }
    for (int i = fixed ? last : last - 1; i >= 0; i--)
        CHECK(cudaStreamSynchronize(streams[i]));
    CHECK(cudaFreeHost(source));

    void *owner = pinned_block(SMALL, FOREIGN);
    for (int i = 0; i <= last; i++) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaDeviceSynchronize());
        right &= device_holds(blocks[i], SMALL, WANTED);
    }
    right &= holds(owner, SMALL, FOREIGN);
    CHECK(cudaFreeHost(owner));
    return finish(right);
}

// expect: SC501 action=ordered
// sim: devices=2
// options: device=1
// needs: multi-gpu
//
// A synchronous copy between two devices, with one device current, is in order with the blocking
// streams of both, and not with others: the target is cleared before it and fetched behind it in
// such a stream of the other device.
#include "peers.h"

int main(void)
{
    const int other = second_device();
    void *from = block_of(0, SMALL, WANTED);
    void *to = block_of(other, SMALL, FOREIGN);
    void *result = pinned_block(SMALL, 0);
    cudaStream_t there = fixed ? blocking_stream() : new_stream();

    CHECK(cudaSetDevice(other));
    busy(there);
    CHECK(cudaMemsetAsync(to, 0, SMALL, there));
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpy(to, from, SMALL, cudaMemcpyDeviceToDevice));
    CHECK(cudaSetDevice(other));
    CHECK(cudaMemcpyAsync(result, to, SMALL, cudaMemcpyDeviceToHost, there));
    CHECK(cudaStreamSynchronize(there));
    synchronize(other);
    return finish(holds(result, SMALL, WANTED));
}

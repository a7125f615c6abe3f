// expect: SC502 action=ordered origin=cuMemAllocFromPoolAsync direction=D2D event=cuMemFreeAsync
// sim: devices=2
// options: device=1
// needs: multi-gpu
//
// Another device has access to memory of a pool and fetches it in a stream of its own. The memory
// is freed before that, in the order of the stream that has allocated it.
#include "peers.h"
#include "pools.h"

static void give_access(cudaMemPool_t pool, int other)
{
    struct cudaMemAccessDesc access;
    memset(&access, 0, sizeof access);
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = other;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    CHECK(cudaMemPoolSetAccess(pool, &access, 1));
}

int main(void)
{
    const int other = second_device();
    cudaStream_t fetch = stream_of(other);
    cudaEvent_t fetched = event_of(other);
    void *to = block_of(other, LARGE, 0);
    cudaStream_t owner = stream_of(0);
    cudaMemPool_t pool = new_pool(UINT64_MAX);
    void *source = pinned_block(LARGE, WANTED);
    if (other != 0)
        give_access(pool, other);
    void *device = pool_block(LARGE, pool, owner);
    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, owner));
    CHECK(cudaStreamSynchronize(owner));

    CHECK(cudaSetDevice(other));
    busy(fetch);
    CHECK(cudaMemcpyAsync(to, device, LARGE, cudaMemcpyDeviceToDevice, fetch));
    CHECK(cudaEventRecord(fetched, fetch));
    CHECK(cudaSetDevice(0));
    if (fixed)
        CHECK(cudaStreamWaitEvent(owner, fetched, 0));
    CHECK(cudaFreeAsync(device, owner));
    void *next = pool_block(LARGE, pool, owner);
    CHECK(cudaMemsetAsync(next, FOREIGN, LARGE, owner));

    CHECK(cudaSetDevice(other));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, LARGE, WANTED));
}

// expect: SC202 action=stalled kind=registered certainty=observed
//
// The first byte of a destination of malloc's, of a size that has pages of its own, is read while
// its copy waits for its turn, in a process for which the kernel reads no memory (a filter refuses
// process_vm_readv): what malloc wrote before the block is found another way.
#include "touch.h"

#include <errno.h>
#include <malloc.h>

#include "tests/sealed_reads.h"

int main(void)
{
    mallopt(M_MMAP_THRESHOLD, 128 << 10); /* also where a driver frees larger blocks */
    cudaStream_t stream = new_stream();
    void *target = registered_block(LARGE, 0);
    void *device = device_block(LARGE, WANTED);
    if (!seal_reads(EPERM))
        return 1;

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, LARGE, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = peek(target, 0);

    CHECK(cudaDeviceSynchronize());
    return finish(right && holds(target, LARGE, WANTED));
}

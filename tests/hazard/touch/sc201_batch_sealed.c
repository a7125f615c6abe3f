// expect: SC201 action=snapshotted kind=pageable
// sim: late_batch=1
//
// Two pageable sources of a batch in a process for which the kernel reads no memory (a filter
// refuses process_vm_readv): their bytes are found another way.
#include "batch.h"

#include <errno.h>

#include "tests/sealed_reads.h"

enum { BYTES = 5000, COPIES = 2 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *targets[COPIES] = {device_block(BYTES, 0), device_block(BYTES, 0)};
    const void *sources[COPIES] = {filled_block(BYTES, WANTED), filled_block(BYTES, WANTED)};
    size_t sizes[COPIES] = {BYTES, BYTES};
    if (!seal_reads(EPERM))
        return 1;

    batch_copies(targets, sources, sizes, COPIES, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < COPIES; i++)
        fill((void *)(uintptr_t)sources[i], BYTES, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(targets[0], BYTES, WANTED) &&
                  device_holds(targets[1], BYTES, WANTED));
}

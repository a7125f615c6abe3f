// expect: SC104 action=stalled kind=pageable certainty=observed event=process_madvise
// needs: kernel (process_madvise)
//
// The advice is for two pieces, in a process for which the kernel reads no memory (a filter refuses
// process_vm_readv): which pieces, is found another way.
#include "late_copy.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "tests/sealed_reads.h"

/* Not in every C library. */
extern __attribute__((weak)) ssize_t process_madvise(int process, const struct iovec *pieces,
                                                     size_t count, int advice, unsigned flags);

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *room = mapped_pages(NULL, SMALL, 0);
    void *source = mapped_pages(NULL, LARGE, WANTED);
    struct iovec pieces[] = {{room, SMALL}, {source, LARGE}};
    int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (!seal_reads(EPERM))
        return 1;

    busy(stream);
    late_copy(device, source, LARGE, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    if (process_madvise)
        process_madvise(process, pieces, 2, MADV_DONTNEED, 0);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, LARGE, WANTED));
}

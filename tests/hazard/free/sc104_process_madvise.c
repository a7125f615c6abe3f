// expect: SC104 action=stalled kind=pageable certainty=observed event=process_madvise
// needs: kernel (process_madvise)
//
// The same advice by process_madvise, which from Linux 6.13 on takes any for the process itself.
// The source is the last of many pieces.
#include "late_copy.h"

#include <sys/syscall.h>
#include <sys/uio.h>

enum { PIECES = 40 };

/* Not in every C library. */
extern __attribute__((weak)) ssize_t process_madvise(int process, const struct iovec *pieces,
                                                     size_t count, int advice, unsigned flags);

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    char *room = (char *)mapped_pages(NULL, PIECES * SMALL, 0);
    void *source = mapped_pages(NULL, LARGE, WANTED);
    struct iovec pieces[PIECES];
    int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
    for (size_t i = 0; i < PIECES; i++)
        pieces[i] = (struct iovec){room + i * SMALL, SMALL / 2};
    pieces[PIECES - 1] = (struct iovec){source, LARGE};

    busy(stream);
    late_copy(device, source, LARGE, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    if (process_madvise)
        process_madvise(process, pieces, PIECES, MADV_DONTNEED, 0);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, LARGE, WANTED));
}

// expect-exit: 0
// needs: sim
//
// The program drops pinned memory from its page tables, where it is shared memory, and hands it to
// system calls: what is in it is still there.
#include "in_flight.h"

#include <sys/mman.h>

static int hand_on(const unsigned char *bytes, unsigned char *into)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    int same = write(ends[1], bytes, 4096) == 4096 && read(ends[0], into, 4096) == 4096 &&
               memcmp(bytes, into, 4096) == 0;
    close(ends[0]);
    close(ends[1]);
    return same;
}

int main(void)
{
    setenv("SURVIVAL_PINNED", "1", 1);
    unsigned char *edge = (unsigned char *)edge_start();
    memset(edge, 7, EDGE);
    hold();
    release();
    CHECK(cudaStreamSynchronize(beside.stream));
    void *page = (void *)((uintptr_t)edge & ~(uintptr_t)4095);
    int advised = madvise(page, 16384, MADV_DONTNEED);
    printf("%d %d\n", advised, hand_on(edge, edge + 8192));
    printf("%d %d\n", madvise(page, 16384, MADV_DONTNEED), edge[0]);
    return 0;
}

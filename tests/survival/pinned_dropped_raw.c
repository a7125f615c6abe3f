// expect-exit: 0
// needs: userfaultfd
// timeout: 30
//
// Pages of pinned memory leave the page tables by an instruction before anything was copied: a
// touch finds them there again.
#include "raw_mask.h"
#include "survival.h"

#include <sys/mman.h>

enum { BYTES = 100 << 10 };

int main(void)
{
    unsigned char *bytes;
    CHECK(cudaMallocHost((void **)&bytes, BYTES));
    memset(bytes, 7, BYTES);
    if (raw_call(SYS_madvise, (long)bytes, 2 * PAGE, MADV_DONTNEED, 0) != 0)
        return 4;
    printf("%d %d\n", bytes[0], bytes[PAGE]);
    bytes[PAGE] = 8;
    CHECK(cudaFreeHost(bytes));
    return 0;
}

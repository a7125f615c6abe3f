// expect-exit: 21
// link: none
//
// A program without CUDA: heap, mappings, files, exit status.
#include "survival.h"

#include <sys/mman.h>

int main(void)
{
    churn(20000);
    void *pages = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SHOW(pages != MAP_FAILED);
    pages = mremap(pages, 1 << 20, 1 << 21, MREMAP_MAYMOVE);
    SHOW(pages != MAP_FAILED);
    SHOW(munmap(pages, 1 << 21));
    fprintf(stderr, "on stderr\n");
    return 21;
}

// expect-exit: 0
//
// mmap, munmap, mremap and mprotect in all their forms and errors, with registered mappings beside
// them, and once more while something else is in flight.
#include "in_flight.h"

#include <sys/mman.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

enum { PAGE = 4096 };

static void *pages(size_t count)
{
    return mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void show(const char *what, bool failed)
{
    printf("%s: %s %d\n", what, failed ? "failed" : "good", failed ? errno : 0);
}

static void errors(void)
{
    char *block = (char *)pages(4);
    show("munmap unaligned", munmap(block + 1, PAGE) != 0);
    show("munmap nothing", munmap(block, 0) != 0);
    show("munmap beyond", munmap((void *)(uintptr_t)0x7ffffffff000, SIZE_MAX / 2) != 0);
    show("mmap nothing",
         mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    show("mmap bad file", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 999, 0) == MAP_FAILED);
    show("mmap no kind", mmap(NULL, PAGE, PROT_READ, MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    show("mmap odd offset", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 0, 5) == MAP_FAILED);
    show("mmap odd address", mmap(block + 1, PAGE, PROT_READ,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED);
    show("mmap occupied",
         mmap(block, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
             MAP_FAILED);
    show("mmap huge", mmap(NULL, SIZE_MAX / 2 / PAGE * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
                           -1, 0) == MAP_FAILED);
    show("mremap unaligned", mremap(block + 1, PAGE, PAGE, 0) == MAP_FAILED);
    show("mremap bad flags", mremap(block, PAGE, PAGE, 64) == MAP_FAILED);
    show("mremap fixed alone", mremap(block, PAGE, PAGE, MREMAP_FIXED, block) == MAP_FAILED);
    show("munmap", munmap(block, 4 * PAGE) != 0);
}

/* With no other thread about, which might have got the place. */
static void unmapped(void)
{
    char *block = (char *)pages(4);
    show("munmap", munmap(block, 4 * PAGE) != 0);
    show("munmap again", munmap(block, 4 * PAGE) != 0);
    show("mremap unmapped", mremap(block, PAGE, PAGE, MREMAP_MAYMOVE) == MAP_FAILED);
    show("mprotect unmapped", mprotect(block, PAGE, PROT_NONE) != 0);
}

static void moves(void)
{
    char *block = (char *)pages(8);
    char *place = (char *)pages(16);
    memset(block, 7, 8 * PAGE);
    SHOW(mremap(block, 8 * PAGE, 4 * PAGE, 0) == block);
    block = (char *)mremap(block, 4 * PAGE, 12 * PAGE, MREMAP_MAYMOVE);
    SHOW(block[4 * PAGE - 1] == 7 && block[4 * PAGE] == 0);
    SHOW(mremap(block, 12 * PAGE, 12 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
    SHOW(place[0] == 7);
    char *twin =
        (char *)mremap(place, 12 * PAGE, 12 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
    show("mremap dontunmap", twin == MAP_FAILED);
    SHOW(twin == MAP_FAILED || (twin[0] == 7 && place[0] == 0));
    SHOW(munmap(place, 16 * PAGE));
    if (twin != MAP_FAILED)
        SHOW(munmap(twin, 12 * PAGE));
}

static void over_registered(void)
{
    char *block = (char *)pages(4);
    memset(block, 3, 4 * PAGE);
    SHOW(cudaHostRegister(block, 4 * PAGE, cudaHostRegisterDefault));
    SHOW(cudaHostUnregister(block));
    SHOW(mmap(block, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
              0) == block);
    SHOW(block[0] == 0 && block[PAGE] == 3);
    SHOW(cudaHostRegister(block, 4 * PAGE, cudaHostRegisterDefault));
    SHOW(cudaHostUnregister(block));
    SHOW(munmap(block, 4 * PAGE));
}

static void protections(void)
{
    char *block = (char *)pages(4);
    show("mprotect unaligned", mprotect(block + 1, PAGE, PROT_NONE) != 0);
    show("mprotect nothing", mprotect(block, 0, PROT_NONE) != 0);
    show("mprotect nothing, unaligned", mprotect(block + 1, 0, PROT_NONE) != 0);
    show("mprotect too much", mprotect(block, SIZE_MAX, PROT_NONE) != 0);
    show("mprotect odd", mprotect(block, PAGE, 0x4000) != 0);
    show("mprotect part of a page", mprotect(block, 10, PROT_READ) != 0);
    show("pkey_mprotect without a key", pkey_mprotect(block, PAGE, PROT_READ, -1) != 0);
    show("pkey_mprotect of no key", pkey_mprotect(block, PAGE, PROT_READ, 4711) != 0);
    show("munmap", munmap(block, 4 * PAGE) != 0);
}

int main(void)
{
    use_cuda("before");
    errors();
    unmapped();
    moves();
    protections();
    over_registered();
    edge_start();
    hold();
    errors();
    moves();
    protections();
    release();
    return 0;
}

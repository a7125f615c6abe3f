/* Registered memory that the program mapped itself, for the SC104 twins. */
#ifndef SC_TESTS_HAZARD_MAPPING_H
#define SC_TESTS_HAZARD_MAPPING_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mremap; so include this header first */
#endif

#include "twin.h"

#include <sys/mman.h>

/* Anonymous pages filled with the pattern of `seed`; at `address` if it is not NULL. */
static TWIN_HELPER void *mapped_pages(void *address, size_t size_bytes, unsigned seed)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (address ? MAP_FIXED : 0);
    void *pages = mmap(address, size_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (pages == MAP_FAILED)
        exit(3);
    fill(pages, size_bytes, seed);
    return pages;
}

static TWIN_HELPER void *registered_pages(size_t size_bytes, unsigned seed)
{
    void *pages = mapped_pages(NULL, size_bytes, seed);
    CHECK(cudaHostRegister(pages, size_bytes, cudaHostRegisterDefault));
    return pages;
}

#endif

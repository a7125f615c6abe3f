/* Memory from the break, for the twins of brk and sbrk. */
#ifndef SC_TESTS_HAZARD_BREAK_H
#define SC_TESTS_HAZARD_BREAK_H

#include "mapping.h"

#include <malloc.h>

/* Raises the break by so much, and returns where it was. malloc has room enough below from then on,
 * and does not move the break any more. */
static TWIN_HELPER uintptr_t raise_break(size_t size_bytes)
{
    static void *volatile blocks[64];
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    for (size_t i = 0; i < 64; i++)
        blocks[i] = malloc(128 << 10);
    for (size_t i = 0; i < 64; i++)
        free(blocks[i]);
    return (uintptr_t)sbrk((intptr_t)size_bytes);
}

#endif

/*
 * A step that finds nothing in the processor's own caches, as a program's does that computes
 * between its copies: chill() reads some MB, which takes the place of data and code in the first
 * two levels, and runs some KB of code, for the first level of instructions. The last level, which
 * processors share, is left as it is.
 */
#ifndef BENCH_COLD_H
#define BENCH_COLD_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLD_BYTES = 4 << 20, /* twice the second level of the servers that were measured */
    COLD_LINE = 64,
};

/* What chill() reads, to be freed. */
static inline unsigned char *cold_block(void)
{
    unsigned char *block = malloc(COLD_BYTES);
    if (!block)
        abort();
    memset(block, 1, COLD_BYTES);
    return block;
}

static inline void chill(const unsigned char *block)
{
    unsigned sum = 0;
    for (size_t at = 0; at < COLD_BYTES; at += COLD_LINE)
        sum += block[at];
    __asm__ volatile(".rept 65536\n\tnop\n\t.endr" : : "r"(sum));
}

#endif

/* Tests eight bytes of text at once, which makes reading JSON faster. Some functions may give the
 * cautious answer although the other one would be right. */
#ifndef SC_REPORT_COMMAND_EIGHT_BYTES_H
#define SC_REPORT_COMMAND_EIGHT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SC_EIGHT_ONES UINT64_C(0x0101010101010101)

/* Reads the eight bytes at `at`, which need not be aligned, into one word. */
static inline uint64_t sc_eight_bytes_at(const char *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/* Returns a word of the first `count` bytes, fewer than eight, followed by zeros. */
static inline uint64_t sc_eight_bytes_of(const char *at, size_t count)
{
    uint64_t bytes = 0;
    memcpy(&bytes, at, count);
    return bytes;
}

/* Returns a word whose bytes have the highest bit set if the byte there is `byte`. Exact. */
static inline uint64_t sc_eight_bytes_are(uint64_t bytes, char byte)
{
    const uint64_t tops = 0x80 * SC_EIGHT_ONES;
    uint64_t zero = bytes ^ (unsigned char)byte * SC_EIGHT_ONES;
    return ~(((zero & ~tops) + ~tops) | zero) & tops;
}

/* Returns false only if none of the bytes is `byte` and all are ASCII. */
static inline bool sc_eight_bytes_may_have(uint64_t bytes, char byte)
{
    uint64_t zero = bytes ^ (unsigned char)byte * SC_EIGHT_ONES;
    return (bytes | (zero - SC_EIGHT_ONES)) & 0x80 * SC_EIGHT_ONES;
}

/* Returns true only if all eight bytes are ASCII and no control characters. DEL is not counted as
 * one. */
static inline bool sc_eight_bytes_are_ascii(uint64_t bytes)
{
    return !((bytes | (bytes - ' ' * SC_EIGHT_ONES)) & 0x80 * SC_EIGHT_ONES);
}

#endif

/* Looks at eight bytes of text at once, which makes reading JSON faster. A question may be answered
 * with the cautious answer for bytes that would allow the other. */
#ifndef SC_REPORT_COMMAND_EIGHT_BYTES_H
#define SC_REPORT_COMMAND_EIGHT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SC_EIGHT_ONES UINT64_C(0x0101010101010101)

static inline uint64_t sc_eight_bytes_at(const char *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/* Less than eight, and zeros behind. */
static inline uint64_t sc_eight_bytes_of(const char *at, size_t count)
{
    uint64_t bytes = 0;
    memcpy(&bytes, at, count);
    return bytes;
}

/* Which of the eight bytes are `byte`: the highest bit of each that is. This answer is exact. */
static inline uint64_t sc_eight_bytes_are(uint64_t bytes, char byte)
{
    const uint64_t tops = 0x80 * SC_EIGHT_ONES;
    uint64_t zero = bytes ^ (unsigned char)byte * SC_EIGHT_ONES;
    return ~(((zero & ~tops) + ~tops) | zero) & tops;
}

/* False only if none of them is `byte`, and all are ASCII. */
static inline bool sc_eight_bytes_may_have(uint64_t bytes, char byte)
{
    uint64_t zero = bytes ^ (unsigned char)byte * SC_EIGHT_ONES;
    return (bytes | (zero - SC_EIGHT_ONES)) & 0x80 * SC_EIGHT_ONES;
}

/* Are all eight ASCII and no control characters? DEL counts as none here. False also if that is not
 * sure. */
static inline bool sc_eight_bytes_are_ascii(uint64_t bytes)
{
    return !((bytes | (bytes - ' ' * SC_EIGHT_ONES)) & 0x80 * SC_EIGHT_ONES);
}

#endif

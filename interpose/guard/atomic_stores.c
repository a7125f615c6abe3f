#include "interpose/guard/atomic_stores.h"

#include <stddef.h>

#include "common/peek.h"

#include "common/poison.h"

#if defined(__x86_64__)

/* Is the byte a prefix of an instruction (segment, operand size, repetition, REX), other than lock?
 */
static bool is_prefix(unsigned char byte)
{
    static const unsigned char prefixes[] = {0x26, 0x2E, 0x36, 0x3E, 0x64,
                                             0x65, 0x66, 0x67, 0xF2, 0xF3};
    for (size_t i = 0; i < sizeof prefixes; i++)
        if (byte == prefixes[i])
            return true;
    return (byte & 0xF0) == 0x40; /* REX */
}

/* Is the instruction at `pc`, which writes memory, an atomic one: with the lock prefix, or xchg
 * (0x86, 0x87), which is atomic by itself on memory? By it the program may communicate with a GPU
 * kernel. False if it cannot be read. */
bool sc_atomic_stores_is_one(uintptr_t pc)
{
    enum { LOCK = 0xF0, PREFIXES_MAX = 14 };
    unsigned char byte = 0;
    for (unsigned i = 0; i < PREFIXES_MAX; i++) {
        if (!sc_peek_anyhow(&byte, pc + i, 1) || byte == LOCK)
            return byte == LOCK;
        if (!is_prefix(byte))
            break;
    }
    return byte == 0x86 || byte == 0x87;
}

#elif defined(__aarch64__)

/* Is the instruction at `pc`, which writes memory, an atomic one: an exclusive store, one with
 * release, compare and swap, or an operation of LSE? By it the program may communicate with a GPU
 * kernel. False if it cannot be read. */
bool sc_atomic_stores_is_one(uintptr_t pc)
{
    uint32_t code = 0;
    return sc_peek_anyhow(&code, pc, sizeof code) &&
           ((code & 0x3F000000) == 0x08000000 || (code & 0x3B200C00) == 0x38200000);
}

#else

/* On other processors no store is recognised as atomic. */
bool sc_atomic_stores_is_one(uintptr_t pc)
{
    (void)pc;
    return false;
}

#endif

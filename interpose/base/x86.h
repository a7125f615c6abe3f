/* An instruction of x86-64 up to its opcode: its prefixes, and the map that the opcode is of. What
 * stands behind the opcode is the reader's, with sc_x86_next. Lock-free, signal safe. */
#ifndef SC_INTERPOSE_BASE_X86_H
#define SC_INTERPOSE_BASE_X86_H

#include <stdbool.h>
#include <stddef.h>

enum sc_x86_prefix { SC_X86_NONE, SC_X86_66, SC_X86_F3, SC_X86_F2 };
enum sc_x86_coding { SC_X86_LEGACY, SC_X86_VEX, SC_X86_EVEX };

struct sc_x86 {
    const unsigned char *bytes;
    size_t size_bytes, at;
    bool is_short;   /* the bytes have ended */
    bool has_prefix; /* of any kind, but those of vectors */
    bool is_other;   /* an address of another kind, or a mask */
    bool halves;     /* 66: numbers of 4 bytes have 2 */
    bool is_wide;    /* W */
    bool has_index;  /* bit 3 of registers' numbers */
    bool has_base;
    bool is_repeated;
    bool broadcasts;
    enum sc_x86_prefix prefix; /* the one that tells instructions apart */
    enum sc_x86_coding coding;
    unsigned map; /* 0, or 1 to 3 behind 0F, 0F 38 and 0F 3A */
    unsigned vector_bytes;
    unsigned char opcode, modrm; /* modrm: the reader's */
};

static inline unsigned char sc_x86_next(struct sc_x86 *code)
{
    if (code->at < code->size_bytes)
        return code->bytes[code->at++];
    code->is_short = true;
    return 0;
}

static inline unsigned sc_x86_field(const struct sc_x86 *code)
{
    return code->modrm >> 3 & 7;
}

struct sc_x86 sc_x86_begin(const unsigned char *bytes, size_t size_bytes);

#endif

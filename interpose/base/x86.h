/* Decodes an instruction of x86-64 up to its opcode: its prefixes, and the opcode map. The caller
 * reads what follows the opcode, with sc_x86_next. No lock; signal-safe. */
#ifndef SC_INTERPOSE_BASE_X86_H
#define SC_INTERPOSE_BASE_X86_H

#include <stdbool.h>
#include <stddef.h>

enum sc_x86_prefix { SC_X86_NONE, SC_X86_66, SC_X86_F3, SC_X86_F2 };
enum sc_x86_coding { SC_X86_LEGACY, SC_X86_VEX, SC_X86_EVEX };

struct sc_x86 {
    const unsigned char *bytes;
    size_t size_bytes, at;
    bool is_short;             /* the instruction has more bytes than were passed */
    bool has_prefix;           /* of any kind but VEX and EVEX */
    bool is_other;             /* a segment (fs, gs), addresses of 32 bits, or a mask */
    bool halves;               /* prefix 66: operands of 4 bytes have 2 */
    bool is_wide;              /* bit W: operands of 8 bytes */
    bool has_index;            /* bit X: the index is one of r8 to r15 */
    bool has_base;             /* bit B: the same of the base */
    bool is_repeated;          /* rep, repne */
    bool broadcasts;           /* EVEX: one element of memory for all of a vector */
    enum sc_x86_prefix prefix; /* the prefix that is a part of the opcode */
    enum sc_x86_coding coding;
    unsigned map; /* the opcode map: 0; 1 to 3 after 0F, 0F 38, 0F 3A */
    unsigned vector_bytes;
    unsigned char opcode, modrm; /* `modrm` is set by the caller */
};

/* Returns the next byte; after the last one 0, and sets `is_short`. */
static inline unsigned char sc_x86_next(struct sc_x86 *code)
{
    if (code->at < code->size_bytes)
        return code->bytes[code->at++];
    code->is_short = true;
    return 0;
}

/* Returns the three middle bits of the ModRM byte, which extend some opcodes. */
static inline unsigned sc_x86_field(const struct sc_x86 *code)
{
    return code->modrm >> 3 & 7;
}

/* Reads the prefixes and the opcode of the instruction at the start of `bytes`. */
struct sc_x86 sc_x86_begin(const unsigned char *bytes, size_t size_bytes);

#endif

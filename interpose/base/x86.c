#include "interpose/base/x86.h"

#include "common/poison.h"

/* Notes what the byte says if it is a prefix of an instruction. False: it is none, but the opcode.
 * A REX prefix counts only directly before the opcode, so every other prefix clears its bits. */
static bool take_prefix(struct sc_x86 *code, unsigned char byte)
{
    bool is_rex = (byte & 0xF0) == 0x40;
    switch (byte) {
    case 0x26:
    case 0x2E:
    case 0x36:
    case 0x3E:
    case 0xF0:
        break;
    case 0x64:
    case 0x65:
    case 0x67:
        code->is_other = true;
        break;
    case 0x66:
        code->prefix = code->prefix == SC_X86_NONE ? SC_X86_66 : code->prefix;
        code->halves = true;
        break;
    case 0xF2:
    case 0xF3:
        code->prefix = byte == 0xF2 ? SC_X86_F2 : SC_X86_F3;
        code->is_repeated = true;
        break;
    default:
        if (!is_rex)
            return false;
    }
    code->is_wide = is_rex && byte & 8;
    code->has_index = is_rex && byte & 2;
    code->has_base = is_rex && byte & 1;
    return code->has_prefix = true;
}

/* Reads a VEX or EVEX prefix and the opcode after it. Such a prefix replaces the others and 0F, 0F
 * 38 or 0F 3A. Its bits R, X and B are inverted. */
static void take_vector_prefix(struct sc_x86 *code, unsigned char first)
{
    unsigned char registers = first == 0xC5 ? 0xE0 : sc_x86_next(code);
    unsigned char bits = sc_x86_next(code);
    code->prefix = (enum sc_x86_prefix)(bits & 3);
    code->coding = first == 0x62 ? SC_X86_EVEX : SC_X86_VEX;
    code->map = first == 0xC5 ? 1 : registers & (first == 0x62 ? 7 : 31);
    code->is_wide = first != 0xC5 && bits & 0x80;
    code->has_index = !(registers & 0x40);
    code->has_base = !(registers & 0x20);
    code->vector_bytes = bits & 4 ? 32 : 16;
    if (first == 0x62) {
        unsigned char more = sc_x86_next(code);
        code->vector_bytes = 16U << (more >> 5 & 3);
        code->broadcasts = more & 0x10;
        code->is_other |= (more & 7) != 0;
    }
    code->opcode = sc_x86_next(code);
}

/* Reads the prefixes and the opcode of an instruction, with the opcode's map: by 0F, 0F 38 and 0F
 * 3A, or by a VEX or EVEX prefix (C5, C4, 62), which stands for these. */
struct sc_x86 sc_x86_begin(const unsigned char *bytes, size_t size_bytes)
{
    struct sc_x86 code = {.bytes = bytes, .size_bytes = size_bytes, .vector_bytes = 16};
    unsigned char byte = sc_x86_next(&code);
    while (take_prefix(&code, byte))
        byte = sc_x86_next(&code);
    code.opcode = byte;
    if (byte == 0xC4 || byte == 0xC5 || byte == 0x62)
        take_vector_prefix(&code, byte);
    if (byte != 0x0F)
        return code;
    code.map = 1;
    code.opcode = sc_x86_next(&code);
    if (code.opcode == 0x38 || code.opcode == 0x3A) {
        code.map = code.opcode == 0x38 ? 2 : 3;
        code.opcode = sc_x86_next(&code);
    }
    return code;
}

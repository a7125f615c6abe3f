#include "interpose/base/instructions.h"

#include <string.h>

#include "interpose/base/x86.h"

#include "common/poison.h"

#if defined(__x86_64__)

/* What follows each opcode of one byte; a row has one upper digit. Letters: . nothing, m a ModRM
 * byte, b 1 byte, z 4 bytes, M a ModRM byte and 1 byte, Z a ModRM byte and 4 bytes, v 4 bytes or 8,
 * s see read_special, ? unknown (decoding ends). */
static const char *const one_byte[16] = {
    "mmmmbz??mmmmbz?s", "mmmmbz??mmmmbz??", "mmmmbz??mmmmbz??", "mmmmbz??mmmmbz??",
    "????????????????", "................", "??sm????zZbM????", "ssssssssssssssss",
    "MZ?Mmmmmmmmmmmmm", "..........?.....", "????....bz......", "bbbbbbbbvvvvvvvv",
    "MMssssMs?.??s???", "mmmm???.mmmmmmmm", "ssss????ss?s????", "????s.ss......ms",
};

/* What follows each opcode after 0F, as above; s is a branch. */
static const char *const two_bytes[16] = {
    "?????????????m??", "mmmmmmmmmmmmmmmm", "????????mmmmmmmm", "?.?.????????????",
    "mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmmm", "MMMMmmm.????mmmm",
    "ssssssssssssssss", "mmmmmmmmmmmmmmmm", "...mMm??..?mMmmm", "mmmmmmmmm?Mmmmmm",
    "mmMmMMMm........", "mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmm?",
};

/* An instruction that is being read. */
struct reading {
    struct sc_x86 code;
    size_t given_bytes;
    uintptr_t pc;
    bool is_relative; /* the operand lies `offset` bytes after the instruction (rip) */
    int32_t offset;
};

/* Returns the next byte of the instruction, and moves on; 0 if none is left. */
static unsigned char next_byte(struct reading *reading)
{
    return sc_x86_next(&reading->code);
}

/* Reads a little-endian number of 0 to 8 bytes from the instruction, and moves on: an address's
 * offset, of 1 or 4 bytes with a sign, or the operand of an instruction. Of an operand of 2 bytes
 * only these are used, and of one of 8 only that it is passed over. */
static int32_t next_number(struct reading *reading, unsigned size_bytes)
{
    uint64_t number = 0; /* of a number of 8 bytes the lower half is returned */
    for (unsigned i = 0; i < size_bytes; i++)
        number |= (uint64_t)next_byte(reading) << 8 * i;
    return size_bytes == 1 ? (int8_t)number : (int32_t)number;
}

/* Reads the ModRM byte of x86, which names the operands, and what belongs to it: a SIB byte and an
 * offset. Notes an offset from the instruction itself (rip), by which calls through a table of
 * addresses find their target. */
static void next_operand(struct reading *reading)
{
    unsigned char modrm = reading->code.modrm = next_byte(reading);
    unsigned mod = modrm >> 6, rm = modrm & 7;
    bool has_base = mod == 3 || rm != 4 || (next_byte(reading) & 7) != 5;
    reading->is_relative = mod == 0 && rm == 5;
    if (mod == 1)
        next_byte(reading);
    else if (mod == 2 || (mod == 0 && (rm == 5 || !has_base)))
        reading->offset = next_number(reading, 4);
}

/* Makes the result for an instruction of the length read so far. If the caller passed too few bytes
 * of code, the instruction is unknown. */
static struct sc_instruction result_of(const struct reading *reading, enum sc_instruction_way way)
{
    struct sc_instruction read = {.way = way, .length = (unsigned)reading->code.at};
    if (reading->code.is_short)
        read.way = SC_WAY_UNKNOWN;
    return read;
}

/* Describes a jump, call or branch of x86 whose target is given relative to the next instruction.
 * With prefix 66 processors differ in how long the offset is, so that one is unknown. Only branches
 * on equality have a condition that the caller can evaluate. */
static struct sc_instruction jump_result(struct reading *reading, enum sc_instruction_way way,
                                         unsigned size_bytes)
{
    int32_t offset = next_number(reading, size_bytes);
    struct sc_instruction read = result_of(reading, reading->code.halves ? SC_WAY_UNKNOWN : way);
    read.target = reading->pc + reading->code.at + (uintptr_t)(intptr_t)offset;
    read.effect = way == SC_WAY_CALL ? SC_EFFECT_SPOILS : SC_EFFECT_KEEPS;
    if (way == SC_WAY_BRANCH && (reading->code.opcode & 0x70) != 0x60) /* no loop, no jrcxz */
        read.condition = (reading->code.opcode & 15) == 4   ? SC_IF_EQUAL
                         : (reading->code.opcode & 15) == 5 ? SC_IF_UNEQUAL
                                                            : SC_IF_UNKNOWN;
    return read;
}

/* Reads an instruction of opcode FF, which the middle bits of its ModRM byte tell apart. Calls and
 * jumps go to an address in memory, which is known only if it is relative to the instruction (rip).
 * The others compute. */
static struct sc_instruction read_group_5(struct reading *reading)
{
    static const enum sc_instruction_way ways[8] = {
        SC_WAY_ON,   SC_WAY_ON,      SC_WAY_CALL, SC_WAY_UNKNOWN,
        SC_WAY_JUMP, SC_WAY_UNKNOWN, SC_WAY_ON,   SC_WAY_UNKNOWN,
    };
    next_operand(reading);
    enum sc_instruction_way way = ways[sc_x86_field(&reading->code)];
    if (way == SC_WAY_ON)
        return result_of(reading, SC_WAY_ON);
    struct sc_instruction read = result_of(reading, reading->is_relative ? way : SC_WAY_UNKNOWN);
    read.target = reading->pc + reading->code.at + (uintptr_t)(intptr_t)reading->offset;
    read.is_pointer = true;
    return read;
}

/* Reads the bytes after an opcode of x86, as the letter that the opcode's table has for it says (m:
 * a ModRM byte, b: a byte, z: 4 bytes, and so on), to find the instruction's length. */
static struct sc_instruction read_rest(struct reading *reading, char what)
{
    if (what == 'm' || what == 'M' || what == 'Z')
        next_operand(reading);
    if (what == 'b' || what == 'M')
        next_byte(reading);
    else if (what == 'z' || what == 'Z')
        next_number(reading, reading->code.halves && !reading->code.is_wide ? 2 : 4);
    else if (what == 'v')
        next_number(reading, reading->code.is_wide ? 8 : reading->code.halves ? 2 : 4);
    return result_of(reading, what == '?' || what == 's' ? SC_WAY_UNKNOWN : SC_WAY_ON);
}

/* Reads an instruction of x86 whose opcode follows 0F. With a VEX or EVEX prefix the same opcodes
 * are of vector instructions, which never branch. */
static struct sc_instruction read_after_0f(struct reading *reading)
{
    unsigned char opcode = reading->code.opcode;
    char what = two_bytes[opcode >> 4][opcode & 15];
    if (reading->code.coding != SC_X86_LEGACY)
        return read_rest(reading, what);
    if (opcode == 0x0B)
        return result_of(reading, SC_WAY_TRAP);
    if (what == 's')
        return jump_result(reading, SC_WAY_BRANCH, 4);
    struct sc_instruction read = read_rest(reading, what);
    if (opcode == 0x1E || opcode == 0x1F) /* hints and nops */
        read.effect = SC_EFFECT_KEEPS;
    return read;
}

/* Reads an x86 instruction that changes where execution continues, or that its opcode alone does
 * not determine (the letter s in the table). */
static struct sc_instruction read_special(struct reading *reading)
{
    unsigned char opcode = reading->code.opcode;
    if (opcode >= 0x70 && opcode <= 0x7F)
        return jump_result(reading, SC_WAY_BRANCH, 1);
    switch (opcode) {
    case 0xC2:
    case 0xC3: /* ret, with and without a number */
        next_number(reading, opcode == 0xC2 ? 2 : 0);
        return result_of(reading, SC_WAY_RETURN);
    case 0xC7: /* /0 is a move, /7 (xbegin) begins a transaction */
        next_operand(reading);
        next_number(reading, reading->code.halves ? 2 : 4);
        return result_of(reading, sc_x86_field(&reading->code) == 0 ? SC_WAY_ON : SC_WAY_UNKNOWN);
    case 0xE8:
    case 0xE9: /* call, jmp */
        return jump_result(reading, opcode == 0xE8 ? SC_WAY_CALL : SC_WAY_JUMP, 4);
    case 0xEB: /* jmp, short */
        return jump_result(reading, SC_WAY_JUMP, 1);
    case 0xF6:
    case 0xF7: /* test, which has a number behind its operand; not, mul and the like */
        next_operand(reading);
        if (sc_x86_field(&reading->code) < 2)
            next_number(reading, opcode == 0xF6 ? 1 : reading->code.halves ? 2 : 4);
        return result_of(reading, SC_WAY_ON);
    case 0xFF:
        return read_group_5(reading);
    case 0xCC:
    case 0xF4: /* int3, hlt */
        return result_of(reading, SC_WAY_TRAP);
    default: /* E0 to E3: loop and jrcxz */
        return jump_result(reading, SC_WAY_BRANCH, 1);
    }
}

/* Does the instruction read fs:0x28, where -fstack-protector has the canary? */
static bool reads_canary(const struct reading *reading, unsigned length)
{
    enum { FS = 0x64 };
    static const unsigned char place[] = {0x25, 0x28, 0, 0, 0};
    return length == 9 && reading->code.bytes[0] == FS && reading->code.is_wide &&
           memcmp(reading->code.bytes + 4, place, sizeof place) == 0;
}

/* Reads the instruction that follows one of `length` bytes, and returns it with the length of both,
 * so that a caller skips the pair as one. */
static struct sc_instruction next_result(const struct reading *reading, unsigned length)
{
    struct sc_instruction following = sc_instructions_read(
        reading->code.bytes + length, reading->given_bytes - length, reading->pc + length);
    following.length += length;
    return following;
}

/* Recognises the check of the stack's canary (a value against overflows) at the end of a function:
 * a sub, xor or cmp with it, or a load followed by a cmp, which become one instruction. The check
 * counts as equal: an overflow would only end the process. */
static void note_canary(const struct reading *reading, struct sc_instruction *read)
{
    enum { LOAD = 0x8B, SUB = 0x2B, XOR = 0x33, CMP = 0x3B, CMP_TO = 0x39 };
    unsigned char opcode = reading->code.opcode;
    unsigned length = read->length;
    if (read->way != SC_WAY_ON || !reads_canary(reading, length))
        return;
    bool compares = opcode == SUB || opcode == XOR || opcode == CMP;
    if (opcode == LOAD && reading->given_bytes > length + 1) {
        const unsigned char *behind = reading->code.bytes + length;
        compares = (behind[0] & 0xF8) == 0x48 && (behind[1] == CMP || behind[1] == CMP_TO);
        if (compares)
            *read = next_result(reading, length);
    }
    if (compares)
        read->effect = SC_EFFECT_EQUALS;
}

/* Notes what the instruction does with eax, in which functions return small numbers: mov, xor,
 * test, cmp and nop without a prefix, as compilers write them. Whoever follows the code can then
 * tell which way a branch goes. Any other instruction may have changed eax. */
static void note_effect(const struct reading *reading, struct sc_instruction *read)
{
    const unsigned char *bytes = reading->code.bytes;
    bool is_own = read->length == 2 && bytes[1] == 0xC0; /* both operands are eax, or al */
    if (reading->code.has_prefix || reading->code.map != 0 || read->way != SC_WAY_ON)
        return;
    if (reading->code.opcode == 0x90)
        read->effect = SC_EFFECT_KEEPS;
    else if (reading->code.opcode == 0xB8 || (is_own && (bytes[0] == 0x31 || bytes[0] == 0x33)))
        read->effect = SC_EFFECT_SETS;
    else if ((is_own && (bytes[0] == 0x84 || bytes[0] == 0x85)) || bytes[0] == 0x3C ||
             bytes[0] == 0x3D || (bytes[0] == 0x83 && bytes[1] == 0xF8))
        read->effect = SC_EFFECT_COMPARES;
    struct reading number = {.code = {.bytes = bytes, .size_bytes = read->length}};
    if (bytes[0] == 0x83 || bytes[0] == 0x3C)
        number.code.at = read->length - 1;
    else if (bytes[0] == 0xB8 || bytes[0] == 0x3D)
        number.code.at = 1;
    else
        return;
    read->number = next_number(&number, read->length - (unsigned)number.code.at);
}

/* Reads what comes after the prefixes, by the opcode's map: 1 is for opcodes after 0F; 2 and 3,
 * after 0F 38 and 0F 3A, are vector instructions, and only their length matters. */
static struct sc_instruction read_any(struct reading *reading)
{
    unsigned map = reading->code.map;
    unsigned char opcode = reading->code.opcode;
    if (map == 1)
        return read_after_0f(reading);
    if (map != 0)
        return read_rest(reading, map == 2 ? 'm' : map == 3 ? 'M' : '?');
    char what = reading->code.coding == SC_X86_LEGACY ? one_byte[opcode >> 4][opcode & 15] : '?';
    return what == 's' ? read_special(reading) : read_rest(reading, what);
}

/* Decodes one instruction of x86-64, for whoever follows a function's code to see whether it can
 * wait. An instruction has 15 bytes at most. A check of the stack's canary is returned as one with
 * the load before it, and may have more. */
struct sc_instruction sc_instructions_read(const unsigned char *bytes, size_t size_bytes,
                                           uintptr_t pc)
{
    size_t looked_at =
        size_bytes < SC_INSTRUCTION_BYTES_MAX ? size_bytes : SC_INSTRUCTION_BYTES_MAX;
    struct reading reading = {
        .code = sc_x86_begin(bytes, looked_at), .given_bytes = size_bytes, .pc = pc};
    struct sc_instruction read = read_any(&reading);
    note_effect(&reading, &read);
    note_canary(&reading, &read);
    return read;
}

#elif defined(__aarch64__)

/* The target of a branch: `pc` plus a signed number of words, which lies in the `bits` bits of the
 * instruction from bit `low` on. */
static uintptr_t branch_target(uintptr_t pc, uint32_t code, unsigned low, unsigned bits)
{
    int64_t words = (int64_t)((uint64_t)code << (64 - low - bits)) >> (64 - bits);
    return pc + (uintptr_t)(words * 4);
}

/* Makes the result for a conditional branch of aarch64 to this address, taken if `condition` holds.
 */
static struct sc_instruction branch_to(uintptr_t target, enum sc_instruction_condition condition)
{
    return (struct sc_instruction){.way = SC_WAY_BRANCH,
                                   .length = 4,
                                   .target = target,
                                   .effect = SC_EFFECT_KEEPS,
                                   .condition = condition};
}

/* Finds by the encoding where execution of aarch64 code continues: calls, jumps, branches, returns
 * and traps. What may wait in the system, or continue anywhere, is unknown. */
static struct sc_instruction read_way(uint32_t code, uintptr_t pc)
{
    struct sc_instruction read = {.way = SC_WAY_ON, .length = 4};
    bool is_on_result = (code & 31) == 0;
    if ((code & 0x7C000000) == 0x14000000) { /* b, bl */
        read.way = code >> 31 ? SC_WAY_CALL : SC_WAY_JUMP;
        read.effect = code >> 31 ? SC_EFFECT_SPOILS : SC_EFFECT_KEEPS;
        read.target = branch_target(pc, code, 0, 26);
    } else if ((code & 0xFF000000) == 0x54000000) { /* b.cond */
        unsigned condition = code & 15;
        return branch_to(branch_target(pc, code, 5, 19), condition == 0   ? SC_IF_EQUAL
                                                         : condition == 1 ? SC_IF_UNEQUAL
                                                                          : SC_IF_UNKNOWN);
    } else if ((code & 0x7E000000) == 0x34000000) { /* cbz, cbnz */
        enum sc_instruction_condition if_result = code >> 24 & 1 ? SC_IF_NONZERO : SC_IF_ZERO;
        return branch_to(branch_target(pc, code, 5, 19), is_on_result ? if_result : SC_IF_UNKNOWN);
    } else if ((code & 0x7E000000) == 0x36000000) { /* tbz, tbnz */
        return branch_to(branch_target(pc, code, 5, 14), SC_IF_UNKNOWN);
    } else if ((code & 0xFFFFF01F) == 0xD503201F) { /* hints: wfe and wfi wait */
        unsigned hint = code >> 5 & 127;
        read.way = hint == 2 || hint == 3 ? SC_WAY_UNKNOWN : SC_WAY_ON;
        read.effect = SC_EFFECT_KEEPS;
    } else if (code == 0xD65F03C0 || code == 0xD65F0BFF || code == 0xD65F0FFF) { /* ret, retaa */
        read.way = SC_WAY_RETURN;
    } else if ((code & 0xFFE0001F) == 0xD4200000 || code >> 16 == 0) { /* brk, udf */
        read.way = SC_WAY_TRAP;
    } else if ((code & 0xFE000000) == 0xD6000000 || (code & 0xFF000000) == 0xD4000000) {
        read.way = SC_WAY_UNKNOWN; /* other branches by a register, svc and its like */
    } else if ((code & 0xFFFFFFC0) == 0xD5031000) {
        read.way = SC_WAY_UNKNOWN; /* waits with a time limit */
    }
    return read;
}

/* Notes what the instruction does with w0, in which functions return small numbers: mov and cmp, as
 * compilers write them. Whoever follows the code can then tell which way a branch goes. */
static void note_effect(uint32_t code, struct sc_instruction *read)
{
    int32_t number = (int32_t)(code >> 10 & 0xFFF);
    if ((code & 0xFFE0001F) == 0x52800000) { /* mov w0, #n */
        read->effect = SC_EFFECT_SETS;
        read->number = (int32_t)(code >> 5 & 0xFFFF);
    } else if (code == 0x2A1F03E0) { /* mov w0, wzr */
        read->effect = SC_EFFECT_SETS;
    } else if ((code & 0xFFC003FF) == 0x7100001F) { /* cmp w0, #n */
        read->effect = SC_EFFECT_COMPARES;
        read->number = number;
    } else if ((code & 0xFFC003FF) == 0x3100001F) { /* cmn w0, #n */
        read->effect = SC_EFFECT_COMPARES;
        read->number = -number;
    }
}

/* Reads the `i`-th instruction of the bytes; each has four bytes on aarch64. False: there are not
 * so many bytes. */
static bool read_code(const unsigned char *bytes, size_t size_bytes, unsigned i, uint32_t *code)
{
    if (size_bytes < 4 * (i + 1))
        return false;
    memcpy(code, bytes + 4 * i, 4);
    return true;
}

/* Recognises an entry of a linkage table (PLT), by which calls reach other objects: adrp x16; ldr
 * x17, [x16, #n]; add x16, x16, #n; br x17. *pointer is set to where the address of the called
 * function lies. */
static bool find_linkage_target(const unsigned char *bytes, size_t size_bytes, uintptr_t pc,
                                uintptr_t *pointer)
{
    uint32_t page, load, sum, jump;
    if (!read_code(bytes, size_bytes, 0, &page) || !read_code(bytes, size_bytes, 1, &load) ||
        !read_code(bytes, size_bytes, 2, &sum) || !read_code(bytes, size_bytes, 3, &jump))
        return false;
    if ((page & 0x9F00001F) != 0x90000010 || (load & 0xFFC003FF) != 0xF9400211 ||
        (sum & 0xFFC003FF) != 0x91000210 || jump != 0xD61F0220)
        return false;
    int64_t pages = (int64_t)((uint64_t)(page >> 5 & 0x7FFFF) << 45) >> 43 | (page >> 29 & 3);
    *pointer = (pc & ~(uintptr_t)4095) + (uintptr_t)(pages * 4096) + (load >> 10 & 0xFFF) * 8;
    return true;
}

/* Decodes one instruction of aarch64, for whoever follows a function's code to see whether it can
 * wait. An entry of the linkage table (four instructions) is returned as one. */
struct sc_instruction sc_instructions_read(const unsigned char *bytes, size_t size_bytes,
                                           uintptr_t pc)
{
    uint32_t code;
    uintptr_t pointer;
    if (!read_code(bytes, size_bytes, 0, &code))
        return (struct sc_instruction){.way = SC_WAY_UNKNOWN};
    if (find_linkage_target(bytes, size_bytes, pc, &pointer))
        return (struct sc_instruction){
            .way = SC_WAY_JUMP, .length = 16, .target = pointer, .is_pointer = true};
    struct sc_instruction read = read_way(code, pc);
    if (read.way == SC_WAY_ON)
        note_effect(code, &read);
    return read;
}

#else

/* Returns "unknown", on other processors. */
struct sc_instruction sc_instructions_read(const unsigned char *bytes, size_t size_bytes,
                                           uintptr_t pc)
{
    (void)bytes;
    (void)size_bytes;
    (void)pc;
    return (struct sc_instruction){.way = SC_WAY_UNKNOWN};
}

#endif

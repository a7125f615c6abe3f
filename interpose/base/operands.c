#include "interpose/base/operands.h"

#include <string.h>

#include "interpose/base/instructions.h"
#include "interpose/base/x86.h"

#include "common/poison.h"

#if defined(__x86_64__)

/* How many bytes the memory operand has, by opcode; a row has one upper digit. Letters: ? none, or
 * not known; o 2, 4 or 8 bytes by prefixes; w 4 or 8 by W; i a vector, but not of MMX; z 16 bytes,
 * but not of MMX; v a vector; p a vector or a scalar, by prefixes; h q e a half, a quarter, an
 * eighth of a vector; f a scalar by W; b 1 byte, x 16, y 32; 1 2 4 8 so many bytes, where 1 is
 * never a vector's. Other letters see special_bytes. */
static const char *const one_byte[16] = {
    "1o1o????1o1o????", "1o1o????1o1o????", "1o1o????1o1o????", "1o1o????1o1o????",
    "????????????????", "????????????????", "???4?????o?o????", "????????????????",
    "1o?o1o1o1o1o2?2?", "????????????????", "????SS????SSSS??", "????????????????",
    "1o????1o????????", "1o1o????XXXXXXXX", "????????????????", "??????1o??????1G",
};

static const char *const after_0f[16] = {
    "????????????????", "ppL8vvL8????????", "????????vvCvccss", "????????????????",
    "oooooooooooooooo", "?pppvvvvppDvpppp", "iiiiiiiiiiiiiiwi", "i???iii?????vvEi",
    "????????????????", "1111111111111111", "????oo??????ooAo", "1o????12o?o?oo12",
    "1opw2?vB????????", "vzzzii8?iiiiiiii", "izziiiHiiiiiiiii", "izzziii?iiiiiii?",
};

static const char *const after_0f38[16] = {
    "iiiiiiiiiiiiiiii", "iiihiiii48xyiiii", "hqehqh??iiii????", "hqehqhiiiiiiiiii",
    "ixifiiii????ifif", "iiiiii??48xy????", "????iii?????????", "iiii?iiib2???iii",
    "???i?????????i??", "??????iiifififif", "??????iiifififif", "????iiiiifififif",
    "????????????????", "???????????iiiii", "????????????????", "moww?www????????",
};

static const char *const after_0f3a[16] = {
    "iiiiiii?ii48iiii", "????b2w4xxyy?hii", "b4wi?iif????????", "????????xxyy??ii",
    "ixiii?i???iii???", "if??ifif????????", "xxxx??if????????", "iiii????????????",
    "????????????????", "????????????????", "????????????????", "????????????????",
    "??????????????ii", "???????????????i", "????????????????", "w???????????????",
};

static const char *const *const maps[] = {one_byte, after_0f, after_0f38, after_0f3a};

/* ---- how much lies in memory ---- */

/* Returns the size of an x87 operand, by the low digits of the opcode and the field of the ModRM
 * byte. */
static size_t x87_bytes(const struct sc_x86 *code)
{
    static const unsigned char sizes[8][8] = {
        {4, 4, 4, 4, 4, 4, 4, 4},   {4, 0, 4, 4, 28, 2, 28, 2}, {4, 4, 4, 4, 4, 4, 4, 4},
        {4, 4, 4, 4, 0, 10, 0, 10}, {8, 8, 8, 8, 8, 8, 8, 8},   {8, 8, 8, 8, 108, 0, 108, 2},
        {2, 2, 2, 2, 2, 2, 2, 2},   {2, 2, 2, 2, 10, 8, 10, 8}};
    return sizes[code->opcode & 7][sc_x86_field(code)];
}

/* Returns the size of an operand of a general instruction: 8 bytes with bit W, 2 with prefix 66,
 * else 4. */
static size_t operand_bytes(const struct sc_x86 *code)
{
    return code->is_wide ? 8 : code->halves ? 2 : 4;
}

/* Selects a size by the prefix that is a part of the opcode: none, 66, F3 or F2. Vector
 * instructions are told apart by it, as whole vectors from single numbers. */
static size_t by_prefix(const struct sc_x86 *code, size_t none, size_t p66, size_t pf3, size_t pf2)
{
    const size_t sizes[] = {none, p66, pf3, pf2};
    return sizes[code->prefix];
}

/* Returns the size of the memory operand for a letter of the tables above that stands for few
 * opcodes: a size that depends on the middle bits of the ModRM byte, or on the prefix. 0: not
 * known. */
static size_t special_bytes(const struct sc_x86 *code, char what)
{
    size_t vector = code->vector_bytes, number = code->is_wide ? 8 : 4;
    switch (what) {
    case 'A': /* states of the processor */
        return sc_x86_field(code) < 2 ? 512 : sc_x86_field(code) < 4 ? 4 : 0;
    case 'B':
        return sc_x86_field(code) == 1 ? 2 * number : 0;
    case 'C':
        return by_prefix(code, 8, 8, number, number);
    case 'c':
        return by_prefix(code, 8, 16, 4, 8);
    case 'D':
        return by_prefix(code, vector / 2, vector, 4, 8);
    case 'E':
        return code->prefix == SC_X86_F3 ? 8 : number;
    case 'G':
        return sc_x86_field(code) < 2 ? operand_bytes(code) : sc_x86_field(code) % 2 == 0 ? 8 : 0;
    case 'H':
        return by_prefix(code, 0, vector, vector / 2, vector);
    case 'L':
        return by_prefix(code, 8, 8, vector, vector == 16 ? 8 : vector);
    case 'm':
        return code->prefix == SC_X86_F2 ? 1 : operand_bytes(code);
    case 's':
        return code->prefix == SC_X86_66 ? 8 : 4;
    case 'X':
        return x87_bytes(code);
    default:
        return 0;
    }
}

/* Returns the size in bytes of the memory operand that the opcode's table describes by the letter
 * `what`; 0: unknown. With EVEX's broadcast one number is loaded for the whole vector. Without a
 * prefix some opcodes are of MMX, with operands of other sizes. */
static size_t size_of(const struct sc_x86 *code, char what)
{
    size_t vector = code->vector_bytes, number = code->is_wide ? 8 : 4;
    bool is_mmx = code->coding == SC_X86_LEGACY && code->prefix == SC_X86_NONE;
    if (code->broadcasts)
        return what == 'i' || what == 'v' || what == 'p' ? number : 0;
    switch (what) {
    case '1':
        return code->coding == SC_X86_LEGACY ? 1 : 0;
    case 'o':
        return code->coding == SC_X86_LEGACY ? operand_bytes(code) : 0;
    case 'b':
        return 1;
    case '2':
    case '4':
    case '8':
        return (size_t)(what - '0');
    case 'x':
        return 16;
    case 'y':
        return 32;
    case 'w':
    case 'f':
        return number;
    case 'v':
        return vector;
    case 'i':
        return is_mmx ? 0 : vector;
    case 'z':
        return is_mmx ? 0 : 16;
    case 'p':
        return by_prefix(code, vector, vector, 4, 8);
    case 'h':
        return vector / 2;
    case 'q':
        return vector / 4;
    case 'e':
        return vector / 8;
    default:
        return special_bytes(code, what);
    }
}

/* ---- where ---- */

/* Returns what register `number`, as instructions count them, had when the fault interrupted the
 * thread. */
static uintptr_t register_of(const ucontext_t *context, unsigned number)
{
    static const unsigned char places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                             REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                             REG_R12, REG_R13, REG_R14, REG_R15};
    return (uintptr_t)context->uc_mcontext.gregs[places[number]];
}

/* Reads the offset of a memory operand, of 0, 1 or 4 bytes, and extends its sign. EVEX counts an
 * offset of one byte in operands instead of bytes. */
static uintptr_t read_offset(struct sc_x86 *code, unsigned size_bytes, size_t operand)
{
    uint32_t number = 0;
    for (unsigned i = 0; i < size_bytes; i++)
        number |= (uint32_t)sc_x86_next(code) << 8 * i;
    if (size_bytes == 4)
        return (uintptr_t)(intptr_t)(int32_t)number;
    return (uintptr_t)(intptr_t)(int8_t)number * (code->coding == SC_X86_EVEX ? operand : 1);
}

/* Returns the address after the instruction, to which rip-relative offsets are added. */
static uintptr_t address_after(const struct sc_x86 *code, const ucontext_t *context)
{
    uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    return pc + sc_instructions_read(code->bytes, code->size_bytes, pc).length;
}

/* Returns the address at which the memory operand begins, of `operand` bytes: base register, scaled
 * index and offset, as the ModRM byte and the SIB byte say. An operand without a base register is
 * relative to the next instruction, or absolute with a SIB byte. */
static uintptr_t place_of(struct sc_x86 *code, const ucontext_t *context, size_t operand)
{
    unsigned mod = code->modrm >> 6, base = code->modrm & 7;
    uintptr_t place = 0;
    bool has_base = mod != 0 || base != 5;
    if (base == 4) {
        unsigned char more = sc_x86_next(code);
        unsigned index = (more >> 3 & 7) | (code->has_index ? 8 : 0);
        base = more & 7;
        has_base = mod != 0 || base != 5;
        if (index != 4)
            place = register_of(context, index) << (more >> 6);
    } else if (!has_base) {
        place = address_after(code, context);
    }
    if (has_base)
        place += register_of(context, base | (code->has_base ? 8 : 0));
    return place + read_offset(code, mod == 1 ? 1 : mod == 2 || !has_base ? 4 : 0, operand);
}

/* ---- string instructions ---- */

/* Returns how far a string instruction (movs, stos, lods and the like) reaches from the faulting
 * address on. 0, unknown, if it goes downwards, or if the address is not within the bytes that its
 * registers name. */
static size_t reach_of_string(const struct sc_x86 *code, const ucontext_t *context,
                              uintptr_t address, bool is_write)
{
    enum { DOWNWARDS = 0x400 };
    const greg_t *registers = context->uc_mcontext.gregs;
    size_t element = code->opcode & 1 ? operand_bytes(code) : 1;
    size_t count = code->is_repeated ? (size_t)registers[REG_RCX] : 1;
    uintptr_t begin = (uintptr_t)registers[is_write ? REG_RDI : REG_RSI];
    if ((registers[REG_EFL] & DOWNWARDS) || count > (SIZE_MAX >> 8) ||
        address - begin >= count * element)
        return 0;
    return begin + count * element - address;
}

/* ---- searches ---- */

/* Does the instruction compare vectors? These are pcmpeq, pcmpgt and pminu, those of SSE4 for texts
 * and whole vectors, and those of AVX-512: one array for each opcode map. */
static bool is_vector_comparison(const struct sc_x86 *code)
{
    static const unsigned char opcodes[4][9] = {
        {0},
        {0x64, 0x65, 0x66, 0x74, 0x75, 0x76, 0xDA},
        {0x17, 0x26, 0x27, 0x29, 0x37, 0x3A},
        {0x1E, 0x1F, 0x3E, 0x3F, 0x60, 0x61, 0x62, 0x63},
    };
    return code->map > 0 && code->map < 4 &&
           memchr(opcodes[code->map], code->opcode, strlen((const char *)opcodes[code->map]));
}

/* May a load at the start of this code belong to a search for the end of a text (strlen and the
 * like)? Such a search loads a whole vector, compares it within the next instructions, and ignores
 * the bytes beyond the end: they are not used, though loaded. */
static bool may_be_search(const unsigned char *bytes, size_t size_bytes)
{
    enum { INSTRUCTIONS_MAX = 4 };
    for (unsigned i = 0; i < INSTRUCTIONS_MAX; i++) {
        const struct sc_x86 code = sc_x86_begin(bytes, size_bytes);
        struct sc_instruction read = sc_instructions_read(bytes, size_bytes, 0);
        if (is_vector_comparison(&code))
            return true;
        if (read.way != SC_WAY_ON)
            return false;
        bytes += read.length;
        size_bytes -= read.length;
    }
    return false;
}

/* ---- all of it ---- */

/* Finds how many bytes from the faulting address on the x86-64 instruction uses, as a fault only
 * shows where the access begins. 0, unknown, for an instruction that is not in the tables or has
 * its operand in a register; for a vector that may be loaded by a search (strlen), which reads
 * further than it needs; and if the operand does not contain the address. */
size_t sc_operands_reach(const unsigned char *bytes, size_t size_bytes, const ucontext_t *context,
                         uintptr_t address, bool is_write)
{
    enum { VECTOR_BYTES = 16 };
    struct sc_x86 code = sc_x86_begin(bytes, size_bytes);
    if (code.is_other || code.map >= sizeof maps / sizeof maps[0])
        return 0;
    char what = maps[code.map][code.opcode >> 4][code.opcode & 15];
    if (code.map == 0 && what == 'S')
        return code.is_short ? 0 : reach_of_string(&code, context, address, is_write);
    /* These AVX-512 instructions store fewer bytes than a vector has. */
    bool narrows = code.coding == SC_X86_EVEX && code.map == 2 && code.prefix == SC_X86_F3;
    code.modrm = sc_x86_next(&code);
    size_t operand = narrows ? 0 : size_of(&code, what);
    if (operand == 0 || code.modrm >> 6 == 3)
        return 0;
    if (!is_write && operand >= VECTOR_BYTES && may_be_search(bytes, size_bytes))
        return 0;
    uintptr_t place = place_of(&code, context, operand);
    return code.is_short || address - place >= operand ? 0 : place + operand - address;
}

#elif defined(__aarch64__)

/* Returns how many bytes a load or store of aarch64 accesses, by its encoding; 0: unknown. */
static size_t size_of(uint32_t code)
{
    size_t size = (size_t)1 << (code >> 30);
    bool is_vector = code >> 26 & 1;
    if ((code & 0x3B000000) == 0x38000000 || (code & 0x3B000000) == 0x39000000) /* ldr, str */
        return is_vector && code >> 23 & 1 ? 16 : size;
    if ((code & 0x3A000000) == 0x28000000) /* ldp, stp */
        return 2 * (is_vector ? (size_t)4 << (code >> 30) : code >> 31 ? 8 : 4);
    if ((code & 0x3F000000) == 0x08000000) /* exclusive and ordered ones */
        return code >> 21 & 1 && !(code >> 23 & 1) ? 2 * size : size;
    if ((code & 0xBF200000) == 0x0C000000) { /* ld1 to ld4, st1 to st4: of whole registers */
        static const unsigned char registers[16] = {4, 0, 4, 0, 3, 0, 3, 1, 2, 0, 2};
        return (size_t)registers[code >> 12 & 15] * (code >> 30 & 1 ? 16 : 8);
    }
    return 0;
}

/* Returns the instruction's size; registers are not read, so it is assumed to begin at the faulting
 * address. At the start of a page that may be false for a vector, which may have begun on the page
 * before. Numbers are assumed to lie on one page. */
size_t sc_operands_reach(const unsigned char *bytes, size_t size_bytes, const ucontext_t *context,
                         uintptr_t address, bool is_write)
{
    enum { SMALLEST_PAGE = 4096 };
    uint32_t code;
    (void)context;
    (void)is_write;
    if (size_bytes < sizeof code)
        return 0;
    memcpy(&code, bytes, sizeof code);
    size_t size = size_of(code);
    return size > 8 && address % SMALLEST_PAGE == 0 ? 0 : size;
}

#else

/* Returns 0 (unknown), on other processors. */
size_t sc_operands_reach(const unsigned char *bytes, size_t size_bytes, const ucontext_t *context,
                         uintptr_t address, bool is_write)
{
    (void)bytes;
    (void)size_bytes;
    (void)context;
    (void)address;
    (void)is_write;
    return 0;
}

#endif

#include "interpose/base/python_layout.h"

#include <string.h>

#include "common/peek.h"

#include "common/poison.h"

#define OBJECTS_OF_64_BITS                                                                         \
    .object_type = 8, .type_name = 24, .bytes_size = 16, .bytes_data = 32, .string_length = 16,    \
    .string_state = 32, .state_shift = 2

#define TO_3_10                                                                                    \
    .ends = SC_PYTHON_ENDS_AT_EACH, .thread_frame = 24, .frame_previous = 24, .frame_code = 32,    \
    .code_file = 104, .code_function = 112, .code_table = 120, .code_first_line = 40,              \
    .string_ascii = 48, .string_compact = 72, OBJECTS_OF_64_BITS

#define FROM_3_11                                                                                  \
    .instruction = SC_PYTHON_INSTRUCTION_POINTER, .format = SC_PYTHON_LOCATIONS,                   \
    .thread_cframe = 56, .frame_instruction = 56, .code_file = 112, .code_function = 128,          \
    .code_table = 136, OBJECTS_OF_64_BITS

static const struct sc_python_layout tables[] = {
    {.instruction = SC_PYTHON_INSTRUCTION_BYTES, /* 3.9 */
     .format = SC_PYTHON_LNOTAB,
     .frame_instruction = 104,
     TO_3_10},
    {.instruction = SC_PYTHON_INSTRUCTION_UNITS, /* 3.10 */
     .format = SC_PYTHON_LINETABLE,
     .frame_instruction = 96,
     TO_3_10},
    {.ends = SC_PYTHON_ENDS_AT_ENTRY, /* 3.11 */
     .cframe_frame = 8,
     .frame_previous = 48,
     .frame_code = 32,
     .frame_mark = 68,
     .code_first_line = 72,
     .code_instructions = 184,
     .string_ascii = 48,
     .string_compact = 72,
     FROM_3_11},
    {.ends = SC_PYTHON_ENDS_AT_SHIM, /* 3.12 */
     .frame_previous = 8,
     .frame_mark = 70,
     .code_first_line = 68,
     .code_instructions = 192,
     .string_ascii = 40,
     .string_compact = 56,
     FROM_3_11},
};

/* ---- what the interpreter says of itself ---- */

/* The first version that has _Py_DebugOffsets, and the last that is known. */
enum { FIRST_THAT_SAYS = 0x30D, LAST = 0x30F };
/* Words of _Py_DebugOffsets that are the same in all versions. */
enum { WORDS = 128, COOKIE = 0, VERSION = 1, FREE_THREADED = 2, FINALIZING = 4 };

/* Where each group of offsets begins in _Py_DebugOffsets, in words. The first groups are the same
 * in all versions. */
struct positions {
    uint8_t thread_state, frame, code, object, type, bytes, string; /* in words */
    bool has_copies; /* threads without a GIL may run copies of a code */
};

static const struct positions positions[LAST - FIRST_THAT_SAYS + 1] = {
    {19, 28, 34, 44, 46, 64, 67, false}, /* 3.13 */
    {22, 31, 39, 50, 52, 74, 77, true},  /* 3.14 */
    {22, 39, 47, 58, 60, 86, 89, true},  /* 3.15 */
};

/* Does a word (8 bytes) at this offset end beyond `bytes` bytes? */
static bool is_beyond(uint64_t offset, uint64_t bytes)
{
    return offset > bytes - sizeof(uint64_t);
}

/* Does everything that is read of a frame and of a code object (CPython's record of a compiled
 * function) lie within the bytes that are read at once? The interpreter itself has told the
 * offsets, and may be another one than it says. */
static bool is_plausible(const struct sc_python_layout *layout)
{
    return !is_beyond(layout->frame_previous, SC_PYTHON_FRAME_BYTES) &&
           !is_beyond(layout->frame_code, SC_PYTHON_FRAME_BYTES) &&
           !is_beyond(layout->frame_instruction, SC_PYTHON_FRAME_BYTES) &&
           !is_beyond(layout->frame_mark, SC_PYTHON_FRAME_BYTES) &&
           !is_beyond(layout->frame_copy, SC_PYTHON_FRAME_BYTES) &&
           !is_beyond(layout->object_type, SC_PYTHON_CODE_BYTES) &&
           !is_beyond(layout->code_file, SC_PYTHON_CODE_BYTES) &&
           !is_beyond(layout->code_function, SC_PYTHON_CODE_BYTES) &&
           !is_beyond(layout->code_table, SC_PYTHON_CODE_BYTES) &&
           !is_beyond(layout->code_first_line, SC_PYTHON_CODE_BYTES) &&
           !is_beyond(layout->code_copies, SC_PYTHON_CODE_BYTES);
}

/* Fills in the layout from the words of _Py_DebugOffsets, in which the interpreter tells the
 * offsets of its members. `at`: where each group of them begins in this version. Without a GIL,
 * threads may run copies of a function's code, from 3.14 on (has_copies). */
static void fill(struct sc_python_layout *layout, const uint64_t *words, const struct positions *at)
{
    const uint64_t *frame = words + at->frame, *code = words + at->code;
    const uint64_t *string = words + at->string;
    *layout = (struct sc_python_layout){
        .ends = SC_PYTHON_ENDS_AT_SHIM,
        .instruction = SC_PYTHON_INSTRUCTION_POINTER,
        .format = SC_PYTHON_LOCATIONS,
        /* The kind of a string: 3.14 and later without a GIL have a byte for what took two bits
         * before. */
        .state_shift = at->has_copies && words[FREE_THREADED] ? 8 : 2,
        .thread_frame = (uint32_t)words[at->thread_state + 4],
        .frame_previous = (uint32_t)frame[1],
        .frame_code = (uint32_t)frame[2],
        .frame_instruction = (uint32_t)frame[3],
        .frame_mark = (uint32_t)frame[5],
        .frame_copy = at->has_copies ? (uint32_t)frame[7] : 0,
        .code_file = (uint32_t)code[1],
        .code_function = (uint32_t)code[3],
        .code_table = (uint32_t)code[4],
        .code_first_line = (uint32_t)code[5],
        .code_instructions = (uint32_t)code[9],
        .code_copies = at->has_copies ? (uint32_t)code[10] : 0,
        .object_type = (uint32_t)words[at->object + 1],
        .type_name = (uint32_t)words[at->type + 1],
        .bytes_size = (uint32_t)words[at->bytes + 1],
        .bytes_data = (uint32_t)words[at->bytes + 2],
        .string_state = (uint32_t)string[1],
        .string_length = (uint32_t)string[2],
        .string_ascii = (uint32_t)string[3],
        .string_compact = (uint32_t)string[3] + 2 * sizeof(uint64_t),
    };
}

/* Fills in the layout from what a running interpreter of 3.13 or later tells of itself at the start
 * of _PyRuntime (_Py_DebugOffsets). False if that is not there, is of another version, or cannot be
 * right. */
static bool fill_from_runtime(struct sc_python_layout *layout, uint32_t version, uintptr_t runtime)
{
    uint64_t words[WORDS];
    if (!runtime || !sc_peek(words, runtime, sizeof words) ||
        memcmp(&words[COOKIE], "xdebugpy", sizeof words[COOKIE]) != 0 || words[VERSION] != version)
        return false;
    fill(layout, words, &positions[(version >> 16) - FIRST_THAT_SAYS]);
    layout->finalizing = runtime + words[FINALIZING];
    return is_plausible(layout);
}

/* Fills in at which offsets this version of CPython keeps what is read of its frames: from tables,
 * or from 3.13 on as the interpreter itself tells. False: the version is too old or too new. */
bool sc_python_layout_make(struct sc_python_layout *layout, uint32_t version, uintptr_t runtime)
{
    enum { FIRST = 0x309 };
    uint32_t minor = version >> 16;
    if (minor < FIRST || minor > LAST)
        return false;
    if (minor >= FIRST_THAT_SAYS)
        return fill_from_runtime(layout, version, runtime);
    memcpy(layout, &tables[minor - FIRST], sizeof *layout);
    return true;
}

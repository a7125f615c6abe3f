/* Where CPython has what its frames consist of, version by version: 3.9 to 3.15.
 *
 * From 3.13 on the interpreter says so itself (_Py_DebugOffsets, the first thing in _PyRuntime);
 * before that, we have tables. An offset counts bytes from the start of its object. Pure but for
 * sc_peek: thread- and signal-safe, no lock.
 */
#ifndef SC_INTERPOSE_BASE_PYTHON_LAYOUT_H
#define SC_INTERPOSE_BASE_PYTHON_LAYOUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/python_lines.h"

/* How much is read of a frame, and of a code object. */
enum { SC_PYTHON_FRAME_BYTES = 128, SC_PYTHON_CODE_BYTES = 256 };

/* Which Python frames one native frame of the evaluation loop runs, from the innermost on. */
enum sc_python_ends {
    SC_PYTHON_ENDS_AT_EACH,  /* one */
    SC_PYTHON_ENDS_AT_ENTRY, /* to the one whose mark is set */
    SC_PYTHON_ENDS_AT_SHIM,  /* to the one before a frame that is the loop's own */
};

enum sc_python_instruction {
    SC_PYTHON_INSTRUCTION_BYTES, /* int: from the first one */
    SC_PYTHON_INSTRUCTION_UNITS, /* int: from the first one, by twos */
    SC_PYTHON_INSTRUCTION_POINTER,
};

struct sc_python_layout {
    enum sc_python_ends ends;
    enum sc_python_instruction instruction;
    enum sc_python_format format;
    uint32_t state_shift;   /* of a string's kind in its state */
    uint32_t thread_frame;  /* of a thread's state: its frame, or */
    uint32_t thread_cframe; /* what has its frame, unless 0 */
    uint32_t cframe_frame;
    uint32_t frame_previous, frame_code, frame_instruction;
    uint32_t frame_mark; /* a byte: whether it is an entry, or who owns it */
    uint32_t frame_copy; /* int: which copy of the code it runs; 0: there are none */
    uint32_t code_file, code_function, code_table, code_first_line, code_instructions;
    uint32_t code_copies; /* the copies, unless 0 */
    uint32_t object_type, type_name;
    uint32_t bytes_size, bytes_data;
    uint32_t string_length, string_state, string_ascii, string_compact; /* the last two: its data */
    uintptr_t finalizing; /* where it is said that the interpreter ends; 0 if not known */
    /* The type of code objects: 0 until a frame was found to have one. Until then the layout is a
     * guess. */
    _Atomic uintptr_t code_type;
    _Atomic uint32_t failures; /* frames without one, before */
};

/* `version` as Py_Version has it. `runtime` is the address of _PyRuntime, 0 if not known. False: of
 * this version nothing is known. */
bool sc_python_layout_make(struct sc_python_layout *layout, uint32_t version, uintptr_t runtime);

#endif

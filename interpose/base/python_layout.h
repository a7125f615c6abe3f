/* Offsets of members of CPython's frames, code objects and strings, for the versions 3.9 to 3.15,
 * so that frames can be read without the interpreter's headers.
 *
 * From 3.13 on the interpreter provides them (_Py_DebugOffsets, at the start of _PyRuntime). For
 * earlier versions the library has tables. An offset counts bytes from the start of its object.
 * Pure except for sc_peek: thread- and signal-safe, no lock. */

/* Terms (docs/glossary.md):
 *   code object: CPython's record of a compiled function
 */

#ifndef SC_INTERPOSE_BASE_PYTHON_LAYOUT_H
#define SC_INTERPOSE_BASE_PYTHON_LAYOUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/python_lines.h"

/* How many bytes are read of a frame, and of a code object. */
enum { SC_PYTHON_FRAME_BYTES = 128, SC_PYTHON_CODE_BYTES = 256 };

/* Which Python frames one native frame of the interpreter's evaluation loop runs: from the
 * innermost one on, */
enum sc_python_ends {
    SC_PYTHON_ENDS_AT_EACH,  /* one frame */
    SC_PYTHON_ENDS_AT_ENTRY, /* up to the frame whose `frame_mark` is set */
    SC_PYTHON_ENDS_AT_SHIM,  /* up to the frame before one that is the loop's own (a shim) */
};

/* How a frame stores which instruction it runs. */
enum sc_python_instruction {
    SC_PYTHON_INSTRUCTION_BYTES,   /* an int: bytes from the first instruction */
    SC_PYTHON_INSTRUCTION_UNITS,   /* an int: units of two bytes from the first instruction */
    SC_PYTHON_INSTRUCTION_POINTER, /* its address */
};

/* A member KIND_NAME is the offset of NAME in an object of KIND. */
struct sc_python_layout {
    enum sc_python_ends ends;
    enum sc_python_instruction instruction;
    enum sc_python_format format;
    uint32_t state_shift;   /* how far a string's kind is shifted in its state */
    uint32_t thread_frame;  /* in a thread's state: its innermost frame, unless */
    uint32_t thread_cframe; /* this is not 0: then the object that has the frame */
    uint32_t cframe_frame;
    uint32_t frame_previous, frame_code, frame_instruction;
    /* Offset of a byte: whether the frame is an entry (3.11), or who owns it (3.12 on). */
    uint32_t frame_mark;
    uint32_t frame_copy; /* an int: which copy of the code the frame runs; 0: no copies exist */
    uint32_t code_file, code_function, code_table, code_first_line, code_instructions;
    uint32_t code_copies; /* the array of copies, unless 0 */
    uint32_t object_type, type_name;
    uint32_t bytes_size, bytes_data;
    uint32_t string_length, string_state, string_ascii, string_compact; /* the last two: its data */
    uintptr_t finalizing; /* address of the word that says that the interpreter ends, or 0 */
    /* The type of code objects. It is 0 until a frame with a code object was read; until then the
     * layout is a guess. */
    _Atomic uintptr_t code_type;
    _Atomic uint32_t failures; /* frames that had no code object, before one had */
};

/* Fills in the layout of a version of CPython. `version`: as Py_Version has it; `runtime`: the
 * address of _PyRuntime, or 0 if unknown. False: nothing is known of this version. */
bool sc_python_layout_make(struct sc_python_layout *layout, uint32_t version, uintptr_t runtime);

#endif

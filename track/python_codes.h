/* Keeps what reports need of CPython's code objects: their names and line tables, copied once for
 * each code object.
 *
 * A Python frame is one word of a stored stack (track/stacks.h): the id of its code object and the
 * offset of its instruction, in a form that no return address has.
 *
 * CPython may free a code object and make another one at its address. So a code object is
 * identified by all members of struct sc_python_identity: the addresses of the code object and of
 * three objects of it, the first line, and the length and the beginning of the line table. Code
 * objects that agree in all of them count as one. That can happen if a program compiles code again
 * and again whose texts differ only in names, or in later lines.
 *
 * Lock-free; bounded memory, from mmap; thread- and signal-safe. */

/* Terms (docs/glossary.md):
 *   code object: CPython's record of a compiled function
 */

#ifndef SC_TRACK_PYTHON_CODES_H
#define SC_TRACK_PYTHON_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What tells code objects apart. The first four members are addresses. All members are words
 * without gaps between them, since the struct is the key of a depot (common/depot.h). */
struct sc_python_identity {
    uint64_t code, file, function, table;
    uint64_t first_line;
    uint64_t table_bytes;
    uint64_t table_head; /* the first bytes of the line table */
};

/* A code object's copy, which lies in the depot and stays for ever. Its texts are mostly UTF-8, and
 * do not end with a NUL. The thread that has reserved it fills it, and then publishes it. */
struct sc_python_code {
    struct sc_python_identity identity;
    uint32_t file_bytes, function_bytes, table_bytes;
    uint32_t format; /* enum sc_python_format */
    char bytes[];    /* the file's name, the function's name, the line table */
};

/* Returns the id of the published code object with this identity, or 0. */
uint32_t sc_python_codes_find(const struct sc_python_identity *identity);

/* Reserves room for a code object with so many bytes of texts, to be filled and published. Returns
 * NULL if there is no room. *id: for sc_python_codes_publish. */
struct sc_python_code *sc_python_codes_reserve(size_t bytes, uint32_t *id);
/* Publishes a code object that was reserved and filled. Returns its id, or that of an equal one
 * that was published before. */
uint32_t sc_python_codes_publish(uint32_t id);

/* Returns the word that stands for a Python frame in a stack. `offset`: of the instruction
 * within the code object, in bytes. */
void *sc_python_codes_word(uint32_t id, uint32_t offset);

/* A frame as a report names it. */
struct sc_python_frame {
    const char *file, *function;
    uint32_t file_bytes, function_bytes;
    int32_t line; /* 0: the instruction has no line */
};

/* Decodes the word of a stack that stands for a Python frame. Returns false if the word is a return
 * address. */
bool sc_python_codes_frame(const void *word, struct sc_python_frame *frame);

#endif

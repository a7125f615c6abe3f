/* Keeps what a stack needs of CPython's code objects: their names and line tables, copied once for
 * each.
 *
 * A Python frame is one word of a stack (track/stacks.h): the id of its code and the offset of its
 * instruction, in a form that no return address has.
 *
 * A code object may be freed, and another one made at its address. So a code is known by all fields
 * of struct sc_python_identity, and two code objects that agree in all of them count as the same.
 * These are the addresses of the code and of three objects, the first line, and the length and the
 * beginning of the line table. Code that a program compiles again and again can agree in these, if
 * its texts differ only in names or further on.
 *
 * Lock-free; bounded memory, from mmap; thread- and signal-safe. */
#ifndef SC_TRACK_PYTHON_CODES_H
#define SC_TRACK_PYTHON_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What tells code objects apart. The first four fields are addresses. All fields are words without
 * gaps between them, since the struct is a key (common/depot.h). */
struct sc_python_identity {
    uint64_t code, file, function, table;
    uint64_t first_line;
    uint64_t table_bytes;
    uint64_t table_head; /* the first bytes of the line table */
};

/* A code. Its bytes lie in the depot and stay for ever. The texts are UTF-8 as a rule, without a
 * NUL. The thread that has reserved a code writes all of it before it publishes it. */
struct sc_python_code {
    struct sc_python_identity identity;
    uint32_t file_bytes, function_bytes, table_bytes;
    uint32_t format; /* enum sc_python_format */
    char bytes[];    /* the file's name, the function's name, the line table */
};

/* The id of the code with this identity, or 0. */
uint32_t sc_python_codes_find(const struct sc_python_identity *identity);

/* Reserves room for a code with so many bytes, to be filled and published. NULL: there is none.
 * *id: for sc_python_codes_publish. */
struct sc_python_code *sc_python_codes_reserve(size_t bytes, uint32_t *id);
/* Publishes a code that was reserved and filled. Returns its id, or that of an equal code that was
 * published before. */
uint32_t sc_python_codes_publish(uint32_t id);

/* The word for a frame. `offset`: of the instruction in the code, in bytes. */
void *sc_python_codes_word(uint32_t id, uint32_t offset);
bool sc_python_codes_is_word(const void *word);

/* A frame as a report names it. */
struct sc_python_frame {
    const char *file, *function;
    uint32_t file_bytes, function_bytes;
    int32_t line; /* 0: the instruction has no line */
};

/* Stores what the word of a Python frame says. False: the word is a return address. */
bool sc_python_codes_frame(const void *word, struct sc_python_frame *frame);

#endif

/* What is known of CPython's code objects: names and line tables, copied once for each.
 *
 * A Python frame is one word of a stack (track/stacks.h): the id of its code and the offset of its
 * instruction, in a form that no return address has.
 *
 * A code object may be freed, and another one made at its address. So a code is known by what
 * struct sc_python_identity has. Two codes are taken for one if they lie
 * at one address and agree in all of that: three objects at three addresses, the first line, and
 * the length and the beginning of the line table. Code that a program compiles again and again can
 * be such, from texts that differ only in names or further on.
 *
 * Lock-free; bounded memory, from mmap; thread- and signal-safe.
 */
#ifndef SC_TRACK_PYTHON_CODES_H
#define SC_TRACK_PYTHON_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses, but for the last three. Words alone, since it is a key (common/depot.h). */
struct sc_python_identity {
    uint64_t code, file, function, table;
    uint64_t first_line;
    uint64_t table_bytes;
    uint64_t table_head; /* the first bytes */
};

/* A code. The bytes lie in the depot and stay for ever; the texts are UTF-8 as a rule, without a
 * NUL. Whoever reserved it writes them before it is published. */
struct sc_python_code {
    struct sc_python_identity identity;
    uint32_t file_bytes, function_bytes, table_bytes;
    uint32_t format; /* enum sc_python_format */
    char bytes[];    /* the file's name, the function's, the table */
};

/* Id of the code, or 0. */
uint32_t sc_python_codes_find(const struct sc_python_identity *identity);

/* Room for a code with so many bytes; NULL if there is none. *id is for publish. */
struct sc_python_code *sc_python_codes_reserve(size_t bytes, uint32_t *id);
uint32_t sc_python_codes_publish(uint32_t id);

/* The word of a frame; `offset` of the instruction in bytes. */
void *sc_python_codes_word(uint32_t id, uint32_t offset);
bool sc_python_codes_is_word(const void *word);

/* A frame as a report names it. */
struct sc_python_frame {
    const char *file, *function;
    uint32_t file_bytes, function_bytes;
    int32_t line; /* 0: none */
};

/* False if it is a return address. */
bool sc_python_codes_frame(const void *word, struct sc_python_frame *frame);

#endif

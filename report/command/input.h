/* The lines of a file, one after the other, in memory that does not grow with the file. What is
 * appended while the file is read is not read: it may be what the reader says of the file. */
#ifndef SC_REPORT_COMMAND_INPUT_H
#define SC_REPORT_COMMAND_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The library's own lines have 256 KB at most. */
enum { SC_INPUT_LINE_MAX = 4 * 1024 * 1024 };

struct sc_input {
    FILE *stream;
    char *block;     /* what was read last */
    size_t at, size; /* of the block: how much is used up, how much there is */
    uint64_t left;   /* how much of the file is still to be read into blocks */
    size_t capacity; /* of `line` */

    /* The line, without its newline. */
    char *line;
    size_t length;
    bool is_whole; /* false: the last one, whose newline is missing */
    bool is_cut;   /* the line in the file is longer */
};

/* False when out of memory. sc_input_free is due either way. */
bool sc_input_init(struct sc_input *input, FILE *stream);
void sc_input_free(struct sc_input *input);

/* Reads on to the next line. Returns 1, 0 at the end, or -errno. */
int sc_input_next(struct sc_input *input);

#endif

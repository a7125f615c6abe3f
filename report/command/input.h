/* Reads the lines of a file, one after the other, in memory that does not grow with the file. What
 * is appended while the file is read is not read: it may be what the reader says of the file.
 *
 * A file of terabytes that is all holes, or a pipe without end, comes to an end as well: no more is
 * read once SC_INPUT_REFUSED_MAX bytes were of no use. */
#ifndef SC_REPORT_COMMAND_INPUT_H
#define SC_REPORT_COMMAND_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The library's own lines have 256 KB at most. */
enum { SC_INPUT_LINE_MAX = 4 * 1024 * 1024, SC_INPUT_REFUSED_MAX = 64 * 1024 * 1024 };

struct sc_input {
    FILE *stream;
    char *block;     /* what was read last */
    size_t at, size; /* of the block: how much is used up, how much there is */
    uint64_t left;   /* how much of the file is still to be read into blocks */
    size_t capacity; /* of `line` */
    uint64_t taken;  /* of the line in the file */
    uint64_t refused;

    /* The line, without its newline. */
    char *line;
    size_t length;
    bool is_whole; /* false: the last one, whose newline is missing */
    bool is_cut;   /* the line in the file is longer */
};

/* Opens a file that the user names: a regular file, or a descriptor of his own, which /dev/stdin
 * and /dev/fd/N name and which may be a pipe. NULL, and an error for sc_regular_file_error in
 * *error. The caller closes it. */
FILE *sc_input_open(const char *path, int *error);

/* False when out of memory. sc_input_free is due either way. */
bool sc_input_init(struct sc_input *input, FILE *stream);
void sc_input_free(struct sc_input *input);

/* Reads on to the next line. Returns 1, 0 at the end, or -errno: -EFBIG once too many bytes were of
 * no use. */
int sc_input_next(struct sc_input *input);

/* The line is of no use. */
void sc_input_refuse(struct sc_input *input);

/* What to say of an error (-errno) of sc_input_next. */
const char *sc_input_error(int error);

#endif

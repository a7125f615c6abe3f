/* Reads the lines of a file, one after the other, in memory that does not grow with the file. What
 * is appended to the file while it is read is not read: it may be the reader's own output.
 *
 * Reading also ends for a huge sparse file or an endless pipe: after SC_INPUT_REFUSED_MAX bytes
 * that were of no use, no more is read. */
#ifndef SC_REPORT_COMMAND_INPUT_H
#define SC_REPORT_COMMAND_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Lines that the library writes have 256 KB at most. */
enum { SC_INPUT_LINE_MAX = 4 * 1024 * 1024, SC_INPUT_REFUSED_MAX = 64 * 1024 * 1024 };

struct sc_input {
    FILE *stream;
    char *block;     /* the bytes that were read last */
    size_t at, size; /* in the block: how many bytes are used up, and how many there are */
    uint64_t left;   /* bytes of the file that are still to be read into the block */
    size_t capacity; /* of `line` */
    uint64_t taken;  /* bytes of the present line in the file */
    uint64_t refused;

    /* The line, without its newline. */
    char *line;
    size_t length;
    bool is_whole; /* false: the last one, whose newline is missing */
    bool is_cut;   /* the line in the file is longer */
};

/* Opens a file that the user names: a regular file, or an inherited descriptor, which /dev/stdin
 * and /dev/fd/N name and which may be a pipe. Returns NULL on failure, with an error for
 * sc_regular_file_error in *error. The caller closes the stream. */
FILE *sc_input_open(const char *path, int *error);

/* Returns false if there is no memory. sc_input_free must be called in either case. */
bool sc_input_init(struct sc_input *input, FILE *stream);
void sc_input_free(struct sc_input *input);

/* Reads the next line. Returns 1; 0 at the end; or -errno: -EFBIG after too many bytes of no use.
 */
int sc_input_next(struct sc_input *input);

/* Notes that the present line was of no use. */
void sc_input_refuse(struct sc_input *input);

/* Returns words for an error (-errno) of sc_input_next. */
const char *sc_input_error(int error);

#endif

/* The file that is written with -o. It is there whole or not at all: what is written stands under
 * another name beside it until it is complete. Nothing but a regular file is replaced, no
 * report is, and a symbolic link is not followed.
 */
#ifndef SC_REPORT_COMMAND_OUTFILE_H
#define SC_REPORT_COMMAND_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

struct sc_outfile {
    FILE *stream;
    const char *path;
    char *beside; /* NULL: the stream is standard output */
};

/* Before the work whose result is to be written: can the file be made, as far as can be seen?
 * `path` "-" is standard output. False after it has said what is wrong. */
bool sc_outfile_is_possible(const char *path);

/* `path` NULL or "-" is standard output. False after it has said what is wrong. */
bool sc_outfile_open(struct sc_outfile *file, const char *path);

/* Completes the file, or takes away what was written of it. False after it has said what is wrong.
 */
bool sc_outfile_close(struct sc_outfile *file);

/* Opens a file for appending, where there is none or a regular one. NULL, with errno. */
FILE *sc_outfile_append(const char *path);

#endif

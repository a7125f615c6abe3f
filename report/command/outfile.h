/* Writes the file of -o. The file is there whole or not at all: what is written stands under
 * another name beside it until it is complete. Nothing but a regular file is replaced, no report
 * is, and a symbolic link is not followed.
 *
 * The file shows what a report says, and so its user alone may read it, as a report. A file of the
 * user's that it replaces hands on its permissions, as far as the umask allows them. */
#ifndef SC_REPORT_COMMAND_OUTFILE_H
#define SC_REPORT_COMMAND_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

/* What the flags say. All zero is standard output. */
struct sc_outfile_place {
    const char *path; /* NULL or "-": standard output */
    const char *mode; /* "umask": that alone decides who may read the file; "private"; NULL: this */
};

/* Reads the value of --output-mode. False: it is wrong, and stderr was told. */
bool sc_outfile_take_mode(struct sc_outfile_place *place, const char *word);

/* When all flags are read: is there a file for the mode? False after it has said that there is
 * none. */
bool sc_outfile_has_use_of_mode(const struct sc_outfile_place *place);

struct sc_outfile {
    FILE *stream;
    const char *path;
    char *beside; /* NULL: the stream is standard output */
};

/* Has the file at `path`, which the command reads, replaced by nothing. */
void sc_outfile_keep(const char *path);

/* Can the file be made, as far as can be seen? To be asked before the work whose result is to be
 * written. `path` "-" is standard output. False: it cannot, and stderr was told why. */
bool sc_outfile_is_possible(const char *path);

/* False after it has said what is wrong. */
bool sc_outfile_open(struct sc_outfile *file, const struct sc_outfile_place *place);

/* Completes the file, or removes what was written of it if that fails. False: it has failed, and
 * stderr was told why. */
bool sc_outfile_close(struct sc_outfile *file);

/* Opens a file for appending, where there is none or a regular one. NULL, with errno. */
FILE *sc_outfile_append(const char *path);

#endif

/* Writes the file of the flag -o, completely or not at all: the text goes to a temporary file next
 * to it, which is renamed when it is complete. Only a regular file is replaced, never a report, and
 * no symbolic link is followed.
 *
 * The file shows what a report says, so only its user may read it, like a report. If it replaces a
 * file of the user's, it takes over that file's permissions, as far as the umask allows. */
#ifndef SC_REPORT_COMMAND_OUTFILE_H
#define SC_REPORT_COMMAND_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

/* What the flags say. All zero is standard output. */
struct sc_outfile_place {
    const char *path; /* NULL or "-": standard output */
    /* "umask": the umask alone decides who may read the file; "private": only the user; NULL: as
     * said above */
    const char *mode;
};

/* Reads the value of --output-mode. Returns false if it is wrong, after a message on stderr. */
bool sc_outfile_take_mode(struct sc_outfile_place *place, const char *word);

/* Called when all flags are read: returns false, after a message, if a mode was given and there is
 * no file for it. */
bool sc_outfile_has_use_of_mode(const struct sc_outfile_place *place);

struct sc_outfile {
    FILE *stream;
    const char *path;
    char *beside; /* NULL: the stream is standard output */
};

/* Notes that the command reads the file at `path`, so that it must not be replaced. */
void sc_outfile_keep(const char *path);

/* Returns true if the file can probably be made. To be called before the work whose result is to be
 * written. `path` "-": standard output. Returns false after writing the reason to stderr. */
bool sc_outfile_is_possible(const char *path);

/* Opens the temporary file. Returns false after a message on stderr. */
bool sc_outfile_open(struct sc_outfile *file, const struct sc_outfile_place *place);

/* Completes the file, or removes the temporary one if that fails. Returns false if it has failed,
 * after a message on stderr. */
bool sc_outfile_close(struct sc_outfile *file);

/* Opens a file for appending, which must be new or a regular file. Returns NULL on failure, with
 * errno. */
FILE *sc_outfile_append(const char *path);

#endif

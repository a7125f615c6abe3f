/* Where the report goes: a file that was not there before, or what the user named and can do no
 * harm.
 *
 * The name of a report can be guessed, so what stands there may have been put there by somebody
 * else. A regular file is replaced: its name is taken away and a new file made, so that what else
 * names it keeps its content. Two are left as they are: the report that this process began before
 * an exec goes on, and next to that of a process that still lives the report is made, as PATH.PID.
 * A symbolic link, a directory, a socket and a device are an error. Allowed besides files are
 *
 *     /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N    what the process was started with
 *     /dev/null, /dev/full
 *     a FIFO of the user's own, while somebody reads from it.
 *
 * Nothing here waits for anybody, and what is opened here never blocks a write, unless it is a
 * regular file. No function allocates or changes errno.
 */
#ifndef SC_REPORT_PLACE_H
#define SC_REPORT_PLACE_H

#include "report/file.h"
#include "report/path.h"
#include "track/text.h"

/* Before the program opens its first file: what `options` (SAFECOPY_OPTIONS, may be NULL) names as
 * /dev/stdout or the like must be open, or else the number will be a file of the program's. */
void sc_place_note_descriptor(const char *options);

/* Opens the report at *path, of SC_OPTIONS_PATH_SIZE bytes, which becomes PATH.PID where PATH is
 * another process's, as `taken` is ("" for none). A descriptor with a high number and
 * close-on-exec, or -errno. */
int sc_place_open(char *path, const char *taken, const struct sc_path_names *names);

/* The same once more, if it still is what is at `path`. A descriptor as above, or -errno. */
int sc_place_open_again(const char *path, const struct sc_file_identity *identity);

/* A line for people: that and why the report cannot be written, and what to do. */
void sc_place_put_failure(struct sc_text *text, const char *path, int error);

#endif

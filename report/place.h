/* Where the report goes: a new file, or something harmless that the user named.
 *
 * The name of a report can be guessed, so somebody else may have put something there. What is there
 * decides (docs/report.md, Where it may be):
 *
 *     no report            a regular file stays; our report is PATH.PID
 *     an older report      its name is taken away and a new file made; other names keep the content
 *     our report           the one that this process began before an exec goes on
 *     another's report     stays if its process lives; our report is PATH.PID
 *     a symbolic link, a directory, a socket, a device    an error
 *
 *     /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N    what the process was started with
 *     /dev/null, /dev/full                                    are opened
 *     a FIFO of the user's own                                while somebody reads from it
 *
 * No function waits for anybody, allocates, or changes errno. A descriptor that is returned never
 * blocks a write, unless it is a regular file's.
 */
#ifndef SC_REPORT_PLACE_H
#define SC_REPORT_PLACE_H

#include "report/file.h"
#include "report/path.h"
#include "track/text.h"

/* Notes whether the descriptor that `options` names as /dev/stdout or the like is open. If not, the
 * number will be a file of the program's. `options` is SAFECOPY_OPTIONS and may be NULL. Pre: the
 * program has opened no file yet. */
void sc_place_note_descriptor(const char *options);

/* Opens the report at *path, of SC_OPTIONS_PATH_SIZE bytes. *path becomes PATH.PID where PATH is
 * no report, another process's, or is `taken` ("" for none). *is_stranger: PATH is no report. A
 * descriptor with a high number and close-on-exec, or -errno. The file is locked, so that nobody
 * else takes its name before the line that says whose it is has been written: then the caller
 * unlocks it. */
int sc_place_open(char *path, const char *taken, const struct sc_path_names *names,
                  bool *is_stranger);

/* Opens the report once more, if what is at `path` still is the file of `identity`. A descriptor as
 * above, or -errno. */
int sc_place_open_again(const char *path, const struct sc_file_identity *identity);

/* Appends a line for people: what is at PATH is no report and stays. `apart` is PATH.PID, which
 * sc_place_open has made of it. */
void sc_place_put_stranger(struct sc_text *text, const char *apart);

/* Appends a line for people: the report cannot be written, why, and what to do. */
void sc_place_put_failure(struct sc_text *text, const char *path, int error);

#endif

/* Opens the file of the report: a new file, or something harmless that the user named, such as a
 * terminal.
 *
 * The name of a report can be guessed, so somebody else may have put something there. What is there
 * decides (docs/report.md, Where it may be):
 *
 *     no whole report      a regular file stays; our report is PATH.PID
 *     a report with another name besides                  the same
 *     an older report      its name is taken away and a new file made
 *     our report           the one that this process began before an exec goes on
 *     another's report     stays if its process lives; our report is PATH.PID
 *     a symbolic link, a directory, a socket, a device    an error
 *
 *     /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N    what the process was started with
 *     /dev/null, /dev/full                                    are opened
 *     a FIFO of the user's own                                while somebody reads from it
 *
 * No function waits for anybody, allocates, or changes errno. A descriptor that is returned never
 * blocks a write, unless it is a regular file's. */
#ifndef SC_REPORT_PLACE_H
#define SC_REPORT_PLACE_H

struct sc_file_identity;
struct sc_path_names;
struct sc_text;

/* Notes whether the descriptor that report_path names (/dev/stdout or the like) is open when the
 * process starts. If it is not, a file of the program's may later have that number, and the report
 * must not be written there. `options`: SAFECOPY_OPTIONS, or NULL. Pre: the program has opened no
 * file yet. */
void sc_place_note_descriptor(const char *options);

/* Opens the report at `path`, a buffer of SC_OPTIONS_PATH_SIZE bytes. Changes `path` to PATH.PID if
 * the file at PATH must stay, if another process writes to it, or if PATH is `taken` ("": nothing
 * is). *kept: why a file of the user's stays, for sc_place_put_kept; NULL: nothing has to be said.
 * Returns a descriptor with a high number and close-on-exec, or -errno. A regular file is locked
 * while the descriptor is open, so that processes in any namespace can see that its process is
 * alive. */
int sc_place_open(char *path, const char *taken, const struct sc_path_names *names,
                  const char **kept);

/* For `safecopy doctor`: returns what sc_place_open and writing the first line would do, without
 * making, removing or writing anything, or opening a FIFO. `path` and *kept are as for
 * sc_place_open. -errno: opening or writing would fail. */
enum {
    SC_PLACE_IS_THERE,     /* it would write to what is there */
    SC_PLACE_NEEDS_FOLDER, /* it would make a file, and the folders that are missing */
};
int sc_place_foresee(const char *path, const struct sc_path_names *names, const char **kept);

/* Removes the file of `identity`, which sc_place_open has made, if it has no complete line, since
 * it would prevent other reports from having the name. */
void sc_place_withdraw(const char *path, const struct sc_file_identity *identity);

/* Opens the report again, if `path` still leads to the file of `identity`. Returns a descriptor as
 * sc_place_open does, or -errno. */
int sc_place_open_again(const char *path, const struct sc_file_identity *identity);

/* Appends a line for people: that the file at PATH stays, and why. `apart`: PATH.PID. `kept`: from
 * sc_place_open. */
void sc_place_put_kept(struct sc_text *text, const char *apart, const char *kept);

/* Returns words for an error of these functions (a positive number), and stores in *remedy what to
 * do. NULL: the system's own words for the error fit. *remedy NULL: choose another path. */
const char *sc_place_find_failure(int error, const char **remedy);

/* Appends a line for people: that the report cannot be written, why, and what to do. */
void sc_place_put_failure(struct sc_text *text, const char *path, int error);

#endif

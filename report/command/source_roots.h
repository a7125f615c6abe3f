/* Decides which files may be shown as source, and keeps the roots: the folders of
 * `--source-root DIR`.
 *
 * A stranger may have written the report, and chosen the paths in it. If the report came with files
 * (a checkout, for example), he may also have put links there that lead to any file that the user
 * of the command can read. And what the command shows may be published, in a page or a comment. So
 * it is not enough to check the path in the report; the file that it leads to must be
 *
 * - a regular file (nothing else is opened, since to open a device or a FIFO may have an effect);
 * - found at its path without links (a file that was deleted, or is in another mount namespace, is
 *   not);
 * - named, at that path, with an ending that source files have;
 * - none of the kernel's (report/command/kernels_files.h);
 * - below one of the roots, if there are any.
 *
 * Exactly the file that was checked is read, even if another one is put in its place meanwhile.
 *
 * Without roots, any source that the user can read may be shown. A hard link to a file counts as
 * the file itself: the system lets only users make one who may write to the file
 * (fs.protected_hardlinks). */
#ifndef SC_REPORT_COMMAND_SOURCE_ROOTS_H
#define SC_REPORT_COMMAND_SOURCE_ROOTS_H

#include <stdbool.h>
#include <stddef.h>

/* All zero is empty: there are no roots. */
struct sc_source_roots {
    char **paths; /* absolute and without links, in the order of their adding */
    size_t count;
};

/* Adds the folder as a root. Returns false if that is not possible, after a message on stderr that
 * says why. */
bool sc_source_roots_add(struct sc_source_roots *roots, const char *folder);
void sc_source_roots_free(struct sc_source_roots *roots);

/* Opens a source file for reading. A relative path begins at the working folder and, if no file is
 * there that may be shown, at each root in turn. Returns a descriptor, or
 * -ENOENT: there is no file, or neither the path nor the file's own path has the ending of a source
 * -EPERM: the path has such an ending, but the file may not be shown
 * -EXDEV: the file is not below a root
 * -ENOTSUP: it is no regular file
 * -ENOSYS: its own path is not known, since /proc is missing
 * or another -errno. */
int sc_source_roots_open(const struct sc_source_roots *roots, const char *path);

#endif

/* Which files may be shown as source, and the roots of `--source-root DIR`.
 *
 * A report may be a stranger's. He chooses the paths in it, and where the report came with files, a
 * checkout for example, what lies there as well: a link may lead to anything that the reader of the
 * report can read. What is shown goes on to others, in a page or a comment. So the path decides
 * nothing, and the file decides all. It has to be
 *
 * - a regular file; nothing else is opened, since to open a device or a FIFO is to use it;
 * - at a path without links, by which this process finds the same file; a file that is deleted, or
 *   in another mount namespace, has none;
 * - called as a source is, there;
 * - none of the kernel's (report/command/kernels_files.h);
 * - below one of the roots, where there are roots.
 *
 * What is read is what was judged: nobody can put another file in its place.
 *
 * Without roots any source may be shown that the reader can read. A hard link is the file itself:
 * the system lets those make one who may write to the file (fs.protected_hardlinks).
 */
#ifndef SC_REPORT_COMMAND_SOURCE_ROOTS_H
#define SC_REPORT_COMMAND_SOURCE_ROOTS_H

#include <stdbool.h>
#include <stddef.h>

/* All zero is empty: there are no roots. */
struct sc_source_roots {
    char **paths; /* absolute and without links, in the order of their adding */
    size_t count;
};

/* False after it has said why the folder cannot be a root. */
bool sc_source_roots_add(struct sc_source_roots *roots, const char *folder);
void sc_source_roots_free(struct sc_source_roots *roots);

/* Opens a file for reading. A relative path begins at the working folder and then, if there is
 * nothing that may be shown, at each root. Returns a descriptor, or
 * -ENOENT: there is no file, or neither the path nor the file is called as a source is
 * -EPERM: the path is called as a source is, but the file may not be shown
 * -EXDEV: it lies outside of the roots
 * -ENOTSUP: it is no regular file
 * -ENOSYS: /proc is not there to tell where it lies
 * or another -errno. */
int sc_source_roots_open(const struct sc_source_roots *roots, const char *path);

#endif

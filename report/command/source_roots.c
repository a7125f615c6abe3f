#define _GNU_SOURCE 1
#include "report/command/source_roots.h"

#include "report/command/kernels_files.h"
#include "report/command/say.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- paths ---- */

/* Is the path below the folder? */
static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || folder[length - 1] == '/');
}

/* Does the path have an ending that source files have? */
static bool is_source(const char *path)
{
    static const char *const endings[] = {
        ".c",   ".cc", ".cpp", ".cxx", ".c++", ".cu",  ".cuh", ".h",   ".hh",  ".hpp",
        ".hxx", ".m",  ".inl", ".py",  ".pyx", ".pxd", ".pyi", ".rs",  ".jl",  ".f90",
        ".f03", ".f",  ".go",  ".mm",  ".C",   ".ipp", ".tcc", ".def", ".zig", ".d",
    };
    const char *name = strrchr(path, '/');
    const char *ending = strrchr(name ? name : path, '.');
    for (size_t i = 0; ending && i < sizeof endings / sizeof endings[0]; i++)
        if (strcmp(ending, endings[i]) == 0)
            return true;
    return false;
}

/* ---- roots ---- */

/* Adds the path to the roots, which then own it. Returns false, and leaves it to the caller, if
 * there is no memory. */
static bool keep_root(struct sc_source_roots *roots, char *path)
{
    void *grown = realloc(roots->paths, (roots->count + 1) * sizeof *roots->paths);
    if (!grown)
        return false;
    roots->paths = grown;
    roots->paths[roots->count++] = path;
    return true;
}

/* Returns why the folder cannot hold sources, or NULL if it can. */
static const char *reason_against(const char *path)
{
    struct stat status;
    if (!path || stat(path, &status) != 0)
        return strerror(errno);
    if (!S_ISDIR(status.st_mode))
        return strerror(ENOTDIR);
    return sc_kernels_files_has(path) ? "nothing below /proc, /sys and /dev is source" : NULL;
}

/* Allows sources in the folder to be shown (--source-root). Returns false, after a message, if it
 * is no folder, or is below /proc, /sys or /dev. */
bool sc_source_roots_add(struct sc_source_roots *roots, const char *folder)
{
    char *path = realpath(folder, NULL);
    const char *reason = reason_against(path);
    if (!reason && keep_root(roots, path))
        return true;
    sc_say("--source-root cannot take '%s': %s", folder, reason ? reason : strerror(ENOMEM));
    free(path);
    return false;
}

void sc_source_roots_free(struct sc_source_roots *roots)
{
    for (size_t i = 0; i < roots->count; i++)
        free(roots->paths[i]);
    free(roots->paths);
    *roots = (struct sc_source_roots){0};
}

/* Is the path below one of the roots? If there are none, every path is allowed. */
static bool is_within(const struct sc_source_roots *roots, const char *path)
{
    for (size_t i = 0; i < roots->count; i++)
        if (is_below(path, roots->paths[i]))
            return true;
    return roots->count == 0;
}

/* ---- a file ---- */

/* Finds the real path of an open file. `path` has PATH_MAX bytes. */
static int find_path(int fd, char *path)
{
    char name[SC_KERNELS_FILES_NAME_BYTES];
    sc_kernels_files_name(fd, name);
    ssize_t length = readlink(name, path, PATH_MAX);
    if (length < 0)
        return -ENOSYS;
    if (length == PATH_MAX)
        return -ENAMETOOLONG;
    path[length] = '\0';
    return 0;
}

/* Is the open file the one that is at the path now? (A link there is another file.) */
static bool is_at(const struct stat *file, const char *path)
{
    struct stat there;
    return lstat(path, &there) == 0 && there.st_dev == file->st_dev && there.st_ino == file->st_ino;
}

/* Decides whether the open file may be shown (source_roots.h says by which rules). Returns 0 if it
 * may, else -errno. `is_called_source`: the path in the report has the ending of a source; without
 * it, a file that is no source either counts as missing. */
static int judge(const struct sc_source_roots *roots, int fd, bool is_called_source)
{
    char path[PATH_MAX];
    struct stat file;
    if (fstat(fd, &file) != 0)
        return -errno;
    int result = find_path(fd, path);
    if (result < 0)
        return result;
    if (!is_called_source && !is_source(path))
        return -ENOENT;
    if (!S_ISREG(file.st_mode))
        return -ENOTSUP;
    if (!is_source(path) || !is_at(&file, path) || sc_kernels_files_is_one(fd))
        return -EPERM;
    return is_within(roots, path) ? 0 : -EXDEV;
}

/* Opens the file at the path if it may be shown. O_PATH only finds the file, so that opening it has
 * no effect on a device or a FIFO. After the check, that same file is opened for reading, by its
 * descriptor, even if another one is at the path by now. */
static int open_one(const struct sc_source_roots *roots, const char *path)
{
    char name[SC_KERNELS_FILES_NAME_BYTES];
    int fd = sc_kernels_files_open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return is_source(path) ? fd : -ENOENT;
    int result = judge(roots, fd, is_source(path));
    if (result == 0) {
        sc_kernels_files_name(fd, name);
        result = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        result = result < 0 ? -errno : result;
    }
    close(fd);
    return result;
}

/* Opens a relative path that begins at a root. */
static int open_below(const struct sc_source_roots *roots, const char *root, const char *path)
{
    char *whole;
    if (asprintf(&whole, "%s/%s", root, path) < 0)
        return -ENOMEM;
    int result = open_one(roots, whole);
    free(whole);
    return result;
}

/* Opens a source that a report names, if it may be shown. Returns a negative reason if it may not
 * or cannot be opened. */
int sc_source_roots_open(const struct sc_source_roots *roots, const char *path)
{
    int result = open_one(roots, path);
    for (size_t i = 0; result < 0 && path[0] != '/' && i < roots->count; i++) {
        int other = open_below(roots, roots->paths[i], path);
        if (other >= 0 || result == -ENOENT)
            result = other;
    }
    return result;
}

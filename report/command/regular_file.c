#define _GNU_SOURCE 1
#include "report/command/regular_file.h"

#include "report/command/kernels_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- opening ---- */

/* Returns 0 for a regular file, else an error: reading a FIFO or a device may hang or have an
 * effect. */
static int check_type(const struct stat *status)
{
    if (S_ISREG(status->st_mode))
        return 0;
    return S_ISDIR(status->st_mode) ? -EISDIR : -ENOTSUP;
}

/* Moves the descriptor above the three standard ones, which may be closed: messages would be
 * written into the file otherwise. */
static int move_up(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int result = moved < 0 ? -errno : moved;
    close(fd);
    return result;
}

/* Checks what was opened, since something else may be at the path by now. */
static int check_open(int fd)
{
    struct stat status;
    int result = fstat(fd, &status) != 0 ? -errno : check_type(&status);
    if (result == 0)
        return fd;
    close(fd);
    return result;
}

static int open_any(const char *path, int flags)
{
    int fd = open(path, flags);
    return fd < 0 ? -errno : fd;
}

/* Opens only a regular file. It is checked before and after it is opened, since opening a pipe or a
 * device may wait or have an effect. */
static int open_by(int (*open_path)(const char *path, int flags), const char *path, int flags)
{
    struct stat status;
    if ((flags & O_NOFOLLOW ? lstat : stat)(path, &status) != 0)
        return -errno;
    int result = check_type(&status);
    if (result == 0)
        result = move_up(open_path(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags));
    return result < 0 ? result : check_open(result);
}

/* Opens the path if a regular file is there. Returns a descriptor or -errno. */
int sc_regular_file_open(const char *path, int flags)
{
    return open_by(open_any, path, flags);
}

/* Opens a regular file that a report names, but no file of the Linux kernel's (/proc, /sys).
 * Returns a negative error if it is none or cannot be opened. */
int sc_regular_file_open_named(const char *path)
{
    if (sc_kernels_files_has(path))
        return -EPERM;
    int fd = open_by(sc_kernels_files_open, path, 0);
    if (fd < 0 || !sc_kernels_files_is_one(fd))
        return fd;
    close(fd);
    return -EPERM;
}

/* Opens the path as a stream if a regular file is there; NULL and *error. */
FILE *sc_regular_file_stream(const char *path, int flags, int *error)
{
    int fd = sc_regular_file_open(path, flags);
    FILE *stream = fd >= 0 ? fdopen(fd, "rb") : NULL;
    *error = fd < 0 ? fd : stream ? 0 : -errno;
    if (fd >= 0 && !stream)
        close(fd);
    return stream;
}

const char *sc_regular_file_error(int error)
{
    return error == -ENOTSUP ? "it is no regular file" : strerror(-error);
}

/* ---- reading ---- */

/* Reads the file to its end, up to `max` bytes. Its size is not relied on: a file may have grown
 * meanwhile, and /proc reports 0 for its own. */
static int fill(int fd, size_t max, char *text, size_t *size)
{
    ssize_t count;
    *size = 0;
    while (*size < max && (count = read(fd, text + *size, max - *size)) != 0) {
        if (count < 0)
            return -errno;
        *size += (size_t)count;
    }
    text[*size] = '\0';
    return 0;
}

/* Reads the file, unless it is larger than `max`. */
static int read_checked(int fd, size_t max, char **text, size_t *size)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return -errno;
    if ((uint64_t)status.st_size > max)
        return -EFBIG;
    size_t room = status.st_size > 0 ? (size_t)status.st_size : max;
    *text = malloc(room + 1);
    return *text ? fill(fd, room, *text, size) : -ENOMEM;
}

/* Reads the whole file, `max` bytes at most, into memory that the caller frees. Returns 0 or
 * -errno. */
int sc_regular_file_read_open(int fd, size_t max, char **text, size_t *size)
{
    size_t ignored;
    *text = NULL;
    int result = read_checked(fd, max, text, size ? size : &ignored);
    if (result < 0) {
        free(*text);
        *text = NULL;
    }
    return result;
}

/* Reads the whole regular file at the path, `max` bytes at most. Returns 0 or -errno. */
int sc_regular_file_read(const char *path, size_t max, char **text, size_t *size)
{
    int fd = sc_regular_file_open(path, 0);
    if (fd < 0)
        return fd;
    int result = sc_regular_file_read_open(fd, max, text, size);
    close(fd);
    return result;
}

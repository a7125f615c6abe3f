#define _GNU_SOURCE 1
#include "report/command/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int check(const struct stat *status, size_t max)
{
    if (!S_ISREG(status->st_mode))
        return S_ISDIR(status->st_mode) ? -EISDIR : -ENOTSUP;
    return (size_t)status->st_size > max ? -EFBIG : 0;
}

/* A file may have grown since it was asked for its size; /proc says 0 of its own. */
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

static int read_checked(int fd, size_t max, char **text, size_t *size)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return -errno;
    int result = check(&status, max);
    if (result < 0)
        return result;
    size_t room = (size_t)status.st_size > 0 ? (size_t)status.st_size : max;
    *text = malloc(room + 1);
    return *text ? fill(fd, room, *text, size) : -ENOMEM;
}

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

int sc_regular_file_read(const char *path, size_t max, char **text, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    int result = sc_regular_file_read_open(fd, max, text, size);
    close(fd);
    return result;
}

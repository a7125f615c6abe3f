/* The file that a fuzzer has read: its bytes as they are, or where they begin with a mark, changes
 * of an image: three bytes are a place, two of them, and what stands there then.
 *
 * It has a name, since what reads it opens it, and is no link.
 */
#ifndef SC_TESTS_FUZZ_CHANGED_FILE_H
#define SC_TESTS_FUZZ_CHANGED_FILE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The caller unlinks it. */
static const char *path_of_file(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/safecopy-fuzz-%d", (int)getpid());
    return path;
}

static void write_all(int fd, const void *bytes, size_t size)
{
    if (write(fd, bytes, size) != (ssize_t)size)
        abort();
}

struct image {
    char mark;
    const void *bytes;
    size_t size;
};

static void write_changed(int fd, const struct image *image, const uint8_t *data, size_t size)
{
    uint8_t *changed = malloc(image->size);
    if (!changed)
        abort();
    memcpy(changed, image->bytes, image->size);
    for (; size >= 3; data += 3, size -= 3)
        changed[(size_t)(data[0] << 8 | data[1]) % image->size] = data[2];
    write_all(fd, changed, image->size);
    free(changed);
}

/* A descriptor of it, at its end. */
static int make_file(const struct image *image, const uint8_t *data, size_t size)
{
    int fd = open(path_of_file(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0700);
    if (fd < 0)
        abort();
    if (size > 0 && data[0] == (uint8_t)image->mark)
        write_changed(fd, image, data + 1, size - 1);
    else
        write_all(fd, data, size);
    return fd;
}

#endif

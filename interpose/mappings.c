#include "interpose/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "track/poison.h"

enum { BUFFER_BYTES = 4096, TAIL = 256 };

struct reader {
    int fd;
    size_t used, filled;
    char buffer[BUFFER_BYTES];
};

/* -1: the end. */
static int next_char(struct reader *reader)
{
    if (reader->used == reader->filled) {
        ssize_t got = syscall(SYS_read, reader->fd, reader->buffer, sizeof reader->buffer);
        if (got <= 0)
            return -1;
        reader->filled = (size_t)got;
        reader->used = 0;
    }
    return (unsigned char)reader->buffer[reader->used++];
}

/* The character after the number. */
static int read_hex(struct reader *reader, uintptr_t *value)
{
    *value = 0;
    for (;;) {
        int c = next_char(reader);
        if (c >= '0' && c <= '9')
            *value = *value << 4 | (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *value = *value << 4 | (uintptr_t)(c - 'a' + 10);
        else
            return c;
    }
}

struct mapping {
    uintptr_t start, end;
    char access[4];  /* "rwxp" */
    char tail[TAIL]; /* the rest of the line, cut off at its end */
};

static void read_line(struct reader *reader, char *line, size_t size)
{
    size_t used = 0;
    for (int c = next_char(reader); c != '\n' && c != -1; c = next_char(reader))
        if (used + 1 < size)
            line[used++] = (char)c;
    line[used] = '\0';
}

/* A line reads "start-end rwxp offset device inode path". */
static bool next_mapping(struct reader *reader, struct mapping *mapping)
{
    if (read_hex(reader, &mapping->start) != '-' || read_hex(reader, &mapping->end) != ' ')
        return false;
    for (unsigned i = 0; i < sizeof mapping->access; i++)
        mapping->access[i] = (char)next_char(reader);
    read_line(reader, mapping->tail, sizeof mapping->tail);
    return true;
}

static int open_mappings(void)
{
    return (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
}

bool sc_mappings_are_plain(uintptr_t address, size_t size_bytes)
{
    int saved = errno;
    struct reader reader = {.fd = open_mappings()};
    struct mapping mapping;
    uintptr_t end = address + size_bytes;
    while (reader.fd >= 0 && address < end && next_mapping(&reader, &mapping)) {
        if (mapping.end <= address)
            continue;
        if (mapping.start > address || memcmp(mapping.access, "rw-", 3) != 0)
            break;
        address = mapping.end;
    }
    if (reader.fd >= 0)
        syscall(SYS_close, reader.fd);
    errno = saved;
    return address >= end;
}

bool sc_mappings_allow(uintptr_t address, bool write)
{
    int saved = errno;
    struct reader reader = {.fd = open_mappings()};
    struct mapping mapping = {0};
    while (reader.fd >= 0 && mapping.end <= address && next_mapping(&reader, &mapping)) {
    }
    if (reader.fd >= 0)
        syscall(SYS_close, reader.fd);
    errno = saved;
    return mapping.start <= address && address < mapping.end &&
           mapping.access[write ? 1 : 0] == (write ? 'w' : 'r');
}

bool sc_mappings_have(const char *part)
{
    int saved = errno;
    struct reader reader = {.fd = open_mappings()};
    struct mapping mapping;
    bool found = false;
    while (reader.fd >= 0 && !found && next_mapping(&reader, &mapping))
        found = strstr(mapping.tail, part) != NULL;
    if (reader.fd >= 0)
        syscall(SYS_close, reader.fd);
    errno = saved;
    return found;
}

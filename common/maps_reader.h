/* Reads /proc/self/maps character by character. Its lines are "start-end rwxp offset device inode
 * path".
 *
 * No lock; signal-safe; nothing is allocated. The caller opens the file, and closes it. */
#ifndef SC_TOOLS_MAPS_READER_H
#define SC_TOOLS_MAPS_READER_H

#include <stddef.h>
#include <stdint.h>

#include "common/kernel.h"

enum { SC_MAPS_READER_BYTES = 4096 };

/* A file of /proc that is read piece by piece; all zero but for `fd` at first. */
struct sc_maps_reader {
    int fd;
    size_t used, filled;
    char buffer[SC_MAPS_READER_BYTES];
};

/* Returns the next character of the file; -1: the end, or an error. */
static inline int sc_maps_reader_next(struct sc_maps_reader *reader)
{
    if (reader->used == reader->filled) {
        long got = sc_kernel_call(SYS_read, reader->fd, reader->buffer, sizeof reader->buffer);
        if (got <= 0)
            return -1;
        reader->filled = (size_t)got;
        reader->used = 0;
    }
    return (unsigned char)reader->buffer[reader->used++];
}

/* Reads a hexadecimal number into *value. Returns the character after it. */
static inline int sc_maps_reader_hex(struct sc_maps_reader *reader, uintptr_t *value)
{
    *value = 0;
    for (;;) {
        int c = sc_maps_reader_next(reader);
        if (c >= '0' && c <= '9')
            *value = *value << 4 | (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *value = *value << 4 | (uintptr_t)(c - 'a' + 10);
        else
            return c;
    }
}

#endif

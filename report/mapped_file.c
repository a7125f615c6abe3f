#include "report/mapped_file.h"

#include "report/file.h"
#include "track/text.h"

#include <string.h>

#include "track/poison.h"

enum { BUFFER_BYTES = 4096, FIELDS_BEFORE_PATH = 4 };

struct reader {
    int fd;
    uint64_t offset;
    size_t used, filled;
    char buffer[BUFFER_BYTES];
};

/* -1: the end. */
static int next_char(struct reader *reader)
{
    if (reader->used == reader->filled) {
        long got = sc_file_read_at(reader->fd, reader->buffer, BUFFER_BYTES, reader->offset);
        if (got <= 0)
            return -1;
        reader->offset += (uint64_t)got;
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

static void skip_line(struct reader *reader)
{
    int c = next_char(reader);
    while (c != '\n' && c != -1)
        c = next_char(reader);
}

/* Behind "start-end" comes " rwxp offset device inode", then blanks, then the path. */
static void read_path(struct reader *reader, struct sc_text *path)
{
    int c = ' ';
    for (int field = 0; field < FIELDS_BEFORE_PATH; field++)
        for (c = next_char(reader); c != ' ' && c != '\n' && c != -1;)
            c = next_char(reader);
    while (c == ' ')
        c = next_char(reader);
    for (; c != '\n' && c != -1; c = next_char(reader))
        sc_text_char(path, (char)c);
}

static bool is_removed(const struct sc_text *path)
{
    static const char mark[] = " (deleted)";
    size_t length = sizeof mark - 1;
    return path->used >= length && strcmp(path->bytes + path->used - length, mark) == 0;
}

static bool find_in(int fd, uintptr_t address, struct sc_text *path)
{
    struct reader reader = {.fd = fd};
    uintptr_t start, end;
    while (read_hex(&reader, &start) == '-') {
        if (read_hex(&reader, &end) == ' ' && start <= address && address < end) {
            read_path(&reader, path);
            return path->bytes[0] == '/' && !path->cut && !is_removed(path);
        }
        skip_line(&reader);
    }
    return false;
}

bool sc_mapped_file_find(uintptr_t address, char *path, size_t size)
{
    struct sc_text text;
    sc_text_init(&text, path, size);
    int fd = sc_file_open("/proc/self/maps");
    if (fd < 0)
        return false;
    bool found = find_in(fd, address, &text);
    sc_file_close(fd);
    return found;
}

const char *sc_mapped_file_of_module(const char *name, uintptr_t base, char *path, size_t size)
{
    if (name && name[0] == '/')
        return name;
    return sc_mapped_file_find(base, path, size) ? path : NULL;
}

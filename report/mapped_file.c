#include "report/mapped_file.h"

#include "common/maps_reader.h"
#include "common/text.h"
#include "report/file.h"

#include <string.h>

#include "common/poison.h"

enum { FIELDS_BEFORE_PATH = 4 };

/* Reads the rest of a line of /proc/self/maps after its two addresses, and keeps the path. */
static void read_path(struct sc_maps_reader *reader, struct sc_text *path)
{
    int c = ' ';
    for (int field = 0; field < FIELDS_BEFORE_PATH; field++)
        for (c = sc_maps_reader_next(reader); c != ' ' && c != '\n' && c != -1;)
            c = sc_maps_reader_next(reader);
    while (c == ' ')
        c = sc_maps_reader_next(reader);
    for (; c != '\n' && c != -1; c = sc_maps_reader_next(reader))
        sc_text_char(path, (char)c);
}

static bool is_removed(const struct sc_text *path)
{
    static const char mark[] = " (deleted)";
    size_t length = sizeof mark - 1;
    return path->used >= length && strcmp(path->bytes + path->used - length, mark) == 0;
}

/* Reads the lines until one has the address, and its path. */
static bool find_in(int fd, uintptr_t address, struct sc_text *path)
{
    struct sc_maps_reader reader = {.fd = fd};
    uintptr_t start, end;
    while (sc_maps_reader_hex(&reader, &start) == '-') {
        if (sc_maps_reader_hex(&reader, &end) == ' ' && start <= address && address < end) {
            read_path(&reader, path);
            return path->bytes[0] == '/' && !path->cut && !is_removed(path);
        }
        int c = sc_maps_reader_next(&reader);
        while (c != '\n' && c != -1)
            c = sc_maps_reader_next(&reader);
    }
    return false;
}

/* Reads /proc/self/maps up to the mapping with the address. */
bool sc_mapped_file_find(uintptr_t address, char *path, size_t size)
{
    struct sc_text text = sc_text_in(path, size);
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

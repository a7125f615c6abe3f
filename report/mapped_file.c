#include "report/mapped_file.h"

#include "common/maps_reader.h"
#include "common/text.h"
#include "report/file.h"

#include <string.h>

#include "common/poison.h"

enum { FIELDS_BEFORE_PATH = 4 };

/* Reads the rest of a line of /proc/self/maps after its two addresses: access, offset, device and
 * inode are skipped, and the path is kept. */
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

/* Does the path end as Linux writes that of a file that has been removed? Another file may have
 * the name by now. */
static bool is_removed(const struct sc_text *path)
{
    static const char mark[] = " (deleted)";
    size_t length = sizeof mark - 1;
    return path->used >= length && strcmp(path->bytes + path->used - length, mark) == 0;
}

/* Reads /proc/self/maps line by line until one has the address, and its path. False: nothing is
 * mapped there, or no file that still has its name (stacks and the heap have words in
 * brackets). */
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

/* Stores the path of the file that is mapped at `address`, by reading /proc/self/maps up to that
 * mapping. */
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

/* Returns the module's absolute path: the loader's name, or for a relative one the file that Linux
 * has mapped at `base`. */
const char *sc_mapped_file_of_module(const char *name, uintptr_t base, char *path, size_t size)
{
    if (name && name[0] == '/')
        return name;
    return sc_mapped_file_find(base, path, size) ? path : NULL;
}

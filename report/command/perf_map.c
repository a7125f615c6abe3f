#define _GNU_SOURCE 1
#include "report/command/perf_map.h"

#include "report/command/input.h"
#include "report/command/regular_file.h"
#include "report/command/say.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Beyond that the map is of no process. */
enum { FUNCTIONS_MAX = 1 << 20, NAME_MAX_BYTES = 4096, NAMES_MAX_BYTES = 64 << 20 };

struct function {
    uint64_t start, end;
    size_t line;
    char *name;
};

struct sc_perf_map {
    struct function *functions; /* sorted by start, then by line */
    size_t count, names_bytes;
};

/* Is the file this user's or root's? Anybody could write a perf-PID.map into /tmp. */
static bool is_trusted(FILE *stream)
{
    struct stat file;
    return fstat(fileno(stream), &file) == 0 && (file.st_uid == geteuid() || file.st_uid == 0);
}

/* Opens a map in /tmp only if nobody else can have written it. */
static FILE *open_trusted(const char *path)
{
    int error;
    FILE *stream = sc_regular_file_stream(path, O_NOFOLLOW, &error);
    if (!stream || is_trusted(stream))
        return stream;
    fclose(stream);
    return NULL;
}

/* Reads a line "START SIZE name", the numbers in hex. The name is part of the line. */
static bool read_function(char *line, struct function *function)
{
    char *end;
    function->start = strtoull(line, &end, 16);
    uint64_t size = *end == ' ' ? strtoull(end + 1, &end, 16) : 0;
    function->name = end + 1;
    return *end == ' ' && size > 0 &&
           !__builtin_add_overflow(function->start, size, &function->end);
}

/* Adds a function of the map. Returns false if memory runs out. */
static bool add_function(struct sc_perf_map *map, const struct function *function)
{
    if ((map->count & (map->count - 1)) == 0) { /* there is room for a power of two */
        void *grown = realloc(map->functions, (map->count ? 2 * map->count : 1) * sizeof *function);
        if (!grown)
            return false;
        map->functions = grown;
    }
    char *name = strndup(function->name, NAME_MAX_BYTES);
    if (!name)
        return false;
    map->functions[map->count] =
        (struct function){function->start, function->end, map->count, name};
    map->names_bytes += strlen(name);
    map->count++;
    return true;
}

/* Adds the function of one line. Returns false if the map is full. */
static bool take_line(struct sc_perf_map *map, struct sc_input *input)
{
    char line[64 + NAME_MAX_BYTES];
    struct function function;
    size_t length = input->length < sizeof line ? input->length : sizeof line - 1;
    if (length > 0)
        memcpy(line, input->line, length);
    line[length] = '\0';
    if (map->count == FUNCTIONS_MAX || map->names_bytes > NAMES_MAX_BYTES)
        return false;
    if (read_function(line, &function))
        return add_function(map, &function);
    sc_input_refuse(input);
    return true;
}

/* Reads the map, up to a limit. */
static void read_functions(struct sc_perf_map *map, const char *path, FILE *stream)
{
    struct sc_input input;
    bool has_room = sc_input_init(&input, stream);
    int result = 0;
    while (has_room && (result = sc_input_next(&input)) > 0)
        has_room = take_line(map, &input);
    if (!has_room || result < 0)
        sc_say("%s has more than the names of 1,048,576 functions, of 64 MB; the rest is not read",
               path);
    sc_input_free(&input);
}

/* Compares two functions for qsort: by address, and at the same address by line, as the later line
 * counts. */
static int by_start_and_line(const void *a, const void *b)
{
    const struct function *left = a, *right = b;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return left->line < right->line ? -1 : left->line > right->line;
}

/* Reads the map that a just-in-time compiler wrote for the process. Returns NULL if there is none.
 */
struct sc_perf_map *sc_perf_map_open(int64_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%" PRId64 ".map", pid);
    FILE *stream = open_trusted(path);
    struct sc_perf_map *map = stream ? calloc(1, sizeof *map) : NULL;
    if (map)
        read_functions(map, path, stream);
    if (map && map->count > 0)
        qsort(map->functions, map->count, sizeof *map->functions, by_start_and_line);
    if (stream)
        fclose(stream);
    return map;
}

/* Frees the map of functions made at run time; NULL does nothing. */
void sc_perf_map_close(struct sc_perf_map *map)
{
    for (size_t i = 0; map && i < map->count; i++)
        free(map->functions[i].name);
    if (map)
        free(map->functions);
    free(map);
}

/* Returns the name of the function that a return address lies in, or NULL if none is known. */
const char *sc_perf_map_find(const struct sc_perf_map *map, uint64_t address)
{
    size_t low = 0, high = map->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->functions[middle].start < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address <= map->functions[low - 1].end ? map->functions[low - 1].name : NULL;
}

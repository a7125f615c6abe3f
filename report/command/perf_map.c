#define _GNU_SOURCE 1
#include "report/command/perf_map.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FUNCTIONS_MAX = 1 << 22 };

struct function {
    uint64_t start, end;
    size_t line;
    char *name;
};

struct sc_perf_map {
    struct function *functions; /* sorted by start, then by line */
    size_t count;
};

static bool is_trusted(int fd)
{
    struct stat file;
    return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) &&
           (file.st_uid == geteuid() || file.st_uid == 0);
}

static FILE *open_trusted(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    FILE *stream = is_trusted(fd) ? fdopen(fd, "r") : NULL;
    if (!stream)
        close(fd);
    return stream;
}

/* "START SIZE name", the numbers in hex. */
static bool read_function(char *line, struct function *function)
{
    char *end;
    function->start = strtoull(line, &end, 16);
    uint64_t size = *end == ' ' ? strtoull(end + 1, &end, 16) : 0;
    if (*end != ' ' || size == 0 || __builtin_add_overflow(function->start, size, &function->end))
        return false;
    end[1 + strcspn(end + 1, "\n")] = '\0';
    function->name = strdup(end + 1);
    return function->name != NULL;
}

static bool add_function(struct sc_perf_map *map, const struct function *function)
{
    if ((map->count & (map->count - 1)) == 0) { /* there is room for a power of two */
        void *grown = realloc(map->functions, (map->count ? 2 * map->count : 1) * sizeof *function);
        if (!grown)
            return false;
        map->functions = grown;
    }
    map->functions[map->count] = *function;
    map->functions[map->count].line = map->count;
    map->count++;
    return true;
}

static void read_functions(struct sc_perf_map *map, FILE *stream)
{
    char *line = NULL;
    size_t size = 0;
    struct function function;
    while (map->count < FUNCTIONS_MAX && getline(&line, &size, stream) > 0)
        if (read_function(line, &function) && !add_function(map, &function)) {
            free(function.name);
            break;
        }
    free(line);
}

static int by_start_and_line(const void *a, const void *b)
{
    const struct function *left = a, *right = b;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return left->line < right->line ? -1 : left->line > right->line;
}

struct sc_perf_map *sc_perf_map_open(int64_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%" PRId64 ".map", pid);
    FILE *stream = open_trusted(path);
    struct sc_perf_map *map = stream ? calloc(1, sizeof *map) : NULL;
    if (map)
        read_functions(map, stream);
    if (map && map->count > 0)
        qsort(map->functions, map->count, sizeof *map->functions, by_start_and_line);
    if (stream)
        fclose(stream);
    return map;
}

void sc_perf_map_close(struct sc_perf_map *map)
{
    for (size_t i = 0; map && i < map->count; i++)
        free(map->functions[i].name);
    if (map)
        free(map->functions);
    free(map);
}

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

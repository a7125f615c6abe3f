#define _GNU_SOURCE 1
#include "report/command/path_map.h"

#include <stdlib.h>
#include <string.h>

struct sc_path_change {
    struct sc_path_change *next;
    const char *old, *new;
    size_t old_length;
};

/* Adds a change OLD=NEW of paths. Returns false if the text is wrong. */
bool sc_path_map_add(struct sc_path_map *map, const char *change)
{
    const char *equals = strchr(change, '=');
    struct sc_path_change *added = equals && equals > change ? calloc(1, sizeof *added) : NULL;
    if (!added)
        return false;
    *added = (struct sc_path_change){map->changes, change, equals + 1, (size_t)(equals - change)};
    map->changes = added;
    return true;
}

/* Frees all changes of paths. */
void sc_path_map_free(struct sc_path_map *map)
{
    while (map->changes) {
        struct sc_path_change *change = map->changes;
        map->changes = change->next;
        free(change);
    }
}

/* Does the path lie in the folder OLD of a change OLD=NEW (--path-map)? */
static bool is_below(const char *path, const struct sc_path_change *change)
{
    return strncmp(path, change->old, change->old_length) == 0 &&
           (strchr("/", path[change->old_length]) || change->old[change->old_length - 1] == '/');
}

/* Returns the path on this machine, by the last change that fits. */
const char *sc_path_map_change(const struct sc_path_map *map, struct sc_scratch *scratch,
                               const char *path)
{
    for (const struct sc_path_change *change = map->changes; path && change; change = change->next)
        if (is_below(path, change))
            return sc_scratch_print(scratch, "%s%s", change->new, path + change->old_length);
    return path;
}

/* Where sources of another machine are on this one: `--path-map OLD=NEW`. */
#ifndef SC_REPORT_COMMAND_PATH_MAP_H
#define SC_REPORT_COMMAND_PATH_MAP_H

#include "report/command/scratch.h"

#include <stdbool.h>

/* Empty when all is 0. */
struct sc_path_map {
    struct sc_path_change *changes; /* the last that was added is the first */
};

/* False if `change` is not OLD=NEW with an OLD. It must live as long as the map. */
bool sc_path_map_add(struct sc_path_map *map, const char *change);
void sc_path_map_free(struct sc_path_map *map);

/* `path` with NEW instead of OLD where it is OLD or below it; else `path` itself, or NULL. */
const char *sc_path_map_change(const struct sc_path_map *map, struct sc_scratch *scratch,
                               const char *path);

#endif

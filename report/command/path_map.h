/* Maps paths of source files on another machine to paths on this one: `--path-map OLD=NEW`. */
#ifndef SC_REPORT_COMMAND_PATH_MAP_H
#define SC_REPORT_COMMAND_PATH_MAP_H

#include "report/command/scratch.h"

#include <stdbool.h>

/* Empty when all is 0. */
struct sc_path_map {
    struct sc_path_change *changes; /* in reverse order of their adding */
};

/* Adds OLD=NEW, which must live as long as the map. Returns false if the text is not of this form,
 * or OLD is empty. */
bool sc_path_map_add(struct sc_path_map *map, const char *change);
void sc_path_map_free(struct sc_path_map *map);

/* Returns the path on this machine: `path` with NEW in place of OLD if it is OLD or below it; else
 * `path` itself, or NULL for NULL. */
const char *sc_path_map_change(const struct sc_path_map *map, struct sc_scratch *scratch,
                               const char *path);

#endif

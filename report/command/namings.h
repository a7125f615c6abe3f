/* Keeps, for each build of the user's own modules, whether their functions are known by names or
 * only by offsets in hazards. Offsets mean nothing in another build. So this shows in which modules
 * the hazards of two sides, a baseline and the reports compared with it, cannot be compared. */
#ifndef SC_REPORT_COMMAND_NAMINGS_H
#define SC_REPORT_COMMAND_NAMINGS_H

#include "report/command/scratch.h"
#include "report/command/table.h"

#include <stdbool.h>
#include <stddef.h>

/* One build of a module, at one path. */
struct sc_naming {
    struct sc_naming *next;
    char *build_id; /* "" if it had none, NULL if that is not known */
    char *path;
    bool has_names;   /* some of its functions are known by name */
    bool has_guesses; /* some are known by a name from a file that may be another build */
    bool has_offsets; /* some are known by offset only */
};

/* What is known of all builds of a module. Beyond a limit, further builds share one record without
 * a build id: the first record of the list. */
struct sc_module_naming {
    struct sc_node node; /* found by the name of the module's file, as in fingerprints */
    struct sc_module_naming *next;
    struct sc_naming *builds;
    size_t count;
};

/* All zero is none. */
struct sc_namings {
    struct sc_table table;
    struct sc_module_naming *first, *last;
};

/* Returns true if any function of the build is in the hazards. */
static inline bool sc_naming_has_any(const struct sc_naming *naming)
{
    return naming->has_names || naming->has_guesses || naming->has_offsets;
}

void sc_namings_free(struct sc_namings *namings);

/* Returns the record of this build of the module at `path`, added if there is none. It lives as
 * long as the namings. NULL: no memory. */
struct sc_naming *sc_namings_find(struct sc_namings *namings, const char *path,
                                  const char *build_id);

/* An open module: one in which hazards of the two sides cannot be compared, with a build of each
 * side. */
struct sc_open_module {
    const struct sc_naming *old, *new;
};

/* Returns the open modules, because of which it is not known which hazards are new or fixed. The
 * caller frees the array; *count is 0 if there are none. NULL: no memory. */
struct sc_open_module *sc_namings_compare(const struct sc_namings *old,
                                          const struct sc_namings *new, size_t *count);

/* Returns true if it is not known whether both sides have the same build, since no build id is
 * known. Then a hazard that counts as unchanged may be another one. */
bool sc_namings_lack_id(const struct sc_open_module *open);

/* Returns words for what cannot be compared, and for what the user can do. */
const char *sc_namings_open_words(struct sc_scratch *scratch, const struct sc_open_module *open);

#endif

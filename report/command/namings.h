/* Keeps whether the functions of the user's own modules are known by names or by offsets in
 * hazards, build by build. Offsets say nothing of another build. So this tells in which modules
 * hazards of two sides, a baseline and what is compared with it, cannot be compared. */
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
    bool has_names;   /* some functions are known by names */
    bool has_guesses; /* by names of a file that may be of another build */
    bool has_offsets; /* by offsets alone */
};

/* What is known of all builds of a module. Beyond some number builds are taken together, as one
 * that is not known, which then is the first. */
struct sc_module_naming {
    struct sc_node node; /* by the name of the file, as in fingerprints */
    struct sc_module_naming *next;
    struct sc_naming *builds;
    size_t count;
};

/* All zero is none. */
struct sc_namings {
    struct sc_table table;
    struct sc_module_naming *first, *last;
};

/* Whether any function of the build is in the hazards. */
static inline bool sc_naming_has_any(const struct sc_naming *naming)
{
    return naming->has_names || naming->has_guesses || naming->has_offsets;
}

void sc_namings_free(struct sc_namings *namings);

/* What is known of this build of the module at `path`; all false if nothing is known of it yet. It
 * lives as long as the namings. NULL: out of memory. */
struct sc_naming *sc_namings_find(struct sc_namings *namings, const char *path,
                                  const char *build_id);

/* A module in which hazards cannot be compared, with a build of each side. */
struct sc_open_module {
    const struct sc_naming *old, *new;
};

/* The modules because of which it is not known which hazards are new or fixed; the caller frees the
 * array. *count is 0 if there are none. NULL: out of memory. */
struct sc_open_module *sc_namings_compare(const struct sc_namings *old,
                                          const struct sc_namings *new, size_t *count);

/* Is it unknown whether both sides are one build, since neither has a build id that is known? Then
 * a hazard that counts as unchanged may be another one. */
bool sc_namings_lack_id(const struct sc_open_module *open);

/* What is open, and what helps. */
const char *sc_namings_open_words(struct sc_scratch *scratch, const struct sc_open_module *open);

#endif

/* Keeps which build of each module ran in each run, from the lists of modules in reports.
 *
 * Different runs may have had different builds of a module at the same path, and an offset means
 * something only in one build. Runs whose lists do not contradict each other share one record of
 * builds. */
#ifndef SC_REPORT_COMMAND_BUILDS_H
#define SC_REPORT_COMMAND_BUILDS_H

#include "report/command/table.h"

#include <stddef.h>

struct sc_build;

/* The builds of one run, or of several that agree. */
struct sc_builds {
    size_t number; /* from 1; unique */
    struct sc_builds *next;
    struct sc_build *first, *last;
    struct sc_table table; /* by path */
};

/* The builds of all runs. All zero is none. */
struct sc_builds_list {
    struct sc_builds *first;
    struct sc_builds *run; /* the run that is being read; NULL: it has named no module yet */
    size_t count;
};

void sc_builds_free(struct sc_builds_list *list);

/* Notes that the module at `path` has this build id in the present run (hexadecimal; "": it has
 * none). If a path gets two ids, its id becomes both joined, which no file has. */
void sc_builds_note(struct sc_builds_list *list, const char *path, const char *build_id);

/* Notes that a stack of the run has a frame in the module, whether the run lists the module or not.
 */
void sc_builds_note_use(struct sc_builds_list *list, const char *path);

/* Ends the present run. Returns its builds, which live as long as the list. NULL: the run has named
 * no module, or there is no memory. */
const struct sc_builds *sc_builds_end_run(struct sc_builds_list *list);

/* Returns the module's build id; "" if it had none, NULL if that is not known. `builds` may be
 * NULL. */
const char *sc_builds_find(const struct sc_builds *builds, const char *path);

/* Returns the number that identifies the builds; 0 for NULL. */
static inline size_t sc_builds_number(const struct sc_builds *builds)
{
    return builds ? builds->number : 0;
}

#endif

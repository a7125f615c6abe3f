/* Keeps which build of each module ran in each run, as the lists of modules in reports say.
 *
 * Runs of other builds may have one path for a module. An offset says something only together with
 * the build that it is in. Runs that do not contradict each other share their builds. */
#ifndef SC_REPORT_COMMAND_BUILDS_H
#define SC_REPORT_COMMAND_BUILDS_H

#include "report/command/table.h"

#include <stddef.h>

struct sc_build;

/* The builds of one run, or of several that agree. */
struct sc_builds {
    size_t number; /* from 1; no others have it */
    struct sc_builds *next;
    struct sc_build *first, *last;
    struct sc_table table; /* by path */
};

/* The builds of all runs. All zero is none. */
struct sc_builds_list {
    struct sc_builds *first;
    struct sc_builds *run; /* that is being read; NULL: it has named no module yet */
    size_t count;
};

void sc_builds_free(struct sc_builds_list *list);

/* Notes that the module at `path` has this build id in the present run (hex, "" for none). A path
 * that gets two of them has both as its id, which no file has. */
void sc_builds_note(struct sc_builds_list *list, const char *path, const char *build_id);

/* Says that a stack of the run has the module, whether it is listed or not. */
void sc_builds_note_use(struct sc_builds_list *list, const char *path);

/* Ends the present run. Returns its builds, which live as long as the list. NULL: the run has named
 * no module, or out of memory. */
const struct sc_builds *sc_builds_end_run(struct sc_builds_list *list);

/* The build id; "" if the module had none, NULL if that is not known. `builds` may be NULL. */
const char *sc_builds_find(const struct sc_builds *builds, const char *path);

/* What tells the builds from others: 0 of NULL. */
static inline size_t sc_builds_number(const struct sc_builds *builds)
{
    return builds ? builds->number : 0;
}

#endif

/* Finds the reports that a run has written: files that report_path describes and that are new or
 * changed since the run began, and files that the run's roll names (report/roll.h). */
#ifndef SC_REPORT_COMMAND_NEW_REPORTS_H
#define SC_REPORT_COMMAND_NEW_REPORTS_H

#include "report/command/run_roll.h"
#include "report/command/scratch.h"

#include <glob.h>
#include <stddef.h>
#include <sys/stat.h>

struct sc_new_reports {
    const char *pattern; /* as glob(3) has it */
    /* the pattern of names that are used if a file is in the way; NULL: `pattern` covers them */
    const char *pattern_if_taken;
    struct stat *before;
    size_t before_count;
    glob_t found;
};

/* Notes which files report_path describes before the run begins. `reports` is all zero. A relative
 * `report_path` begins in the working folder of this process; NULL describes no file. Memory of
 * `scratch` must live as long as `reports`. */
void sc_new_reports_begin(struct sc_new_reports *reports, struct sc_scratch *scratch,
                          const char *report_path);

/* Returns the paths of the reports that the run has written, up to a NULL. They live until
 * sc_new_reports_free, and no longer than the memory of `scratch`. To be called once. */
char **sc_new_reports_find(struct sc_new_reports *reports, struct sc_scratch *scratch,
                           const struct sc_run_roll *roll);

void sc_new_reports_free(struct sc_new_reports *reports);

#endif

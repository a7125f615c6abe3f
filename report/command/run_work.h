/* What the flags of `safecopy run` ask for, and the environment in which the program is started. */
#ifndef SC_REPORT_COMMAND_RUN_WORK_H
#define SC_REPORT_COMMAND_RUN_WORK_H

#include "report/command/outfile.h"
#include "report/command/scratch.h"
#include "report/command/source_roots.h"
#include "report/options.h"

#include <stdbool.h>

struct sc_run_work {
    const char *options; /* the value for SAFECOPY_OPTIONS; later entries override earlier ones */
    const char *format;  /* NULL: no report is shown at the end */
    struct sc_outfile_place out; /* its path NULL: stderr */
    struct sc_source_roots roots;
    int place_flag; /* which of --report and --report-dir was given, by its letter; 0: neither */
    bool is_injected;
    bool requires_judged;     /* a run in which nothing was judged fails */
    bool awaits;              /* wait for all processes that the program leaves running */
    int limit_s;              /* seconds that this wait may take; negative: no limit */
    struct sc_options parsed; /* of `options` */
    struct sc_scratch scratch;
};

/* Adds an entry to the options; it overrides earlier ones of the same key. */
void sc_run_work_add_entry(struct sc_run_work *work, const char *key, const char *value);

/* The following functions return false after a message that says why. */

bool sc_run_work_is_value(const char *value);

/* Has each process write its report into a folder, which is made if it does not exist. */
bool sc_run_work_add_folder(struct sc_run_work *work, const char *path);

/* Checks the file of suppressions, and names it in the options. (The library itself would leave out
 * a malformed entry and go on.) */
bool sc_run_work_add_suppressions(struct sc_run_work *work, const char *path);

bool sc_run_work_parse(struct sc_run_work *work);

/* Makes report_path absolute: a relative one would begin where each process first uses CUDA. */
bool sc_run_work_anchor(struct sc_run_work *work);

bool sc_run_work_set_environment(struct sc_run_work *work);

/* Writes why the program cannot be run. Returns the status to exit with, as a shell does. */
int sc_run_work_refuse_program(const char *program, int error);

#endif

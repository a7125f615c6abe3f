/* What the flags of `safecopy run` ask for, and the environment with which the program is
 * started. */
#ifndef SC_REPORT_COMMAND_RUN_WORK_H
#define SC_REPORT_COMMAND_RUN_WORK_H

#include "report/command/outfile.h"
#include "report/command/scratch.h"
#include "report/command/source_roots.h"
#include "report/options.h"

#include <stdbool.h>

struct sc_run_work {
    const char *options;         /* what SAFECOPY_OPTIONS becomes; a later entry overrules */
    const char *format;          /* NULL: nothing is shown at the end */
    struct sc_outfile_place out; /* its path NULL: stderr */
    struct sc_source_roots roots;
    int place_flag; /* which of --report and --report-dir was given, by its letter; 0: neither */
    bool is_injected;
    bool requires_judged;     /* a run in which nothing was judged fails */
    bool awaits;              /* all that the program leaves running */
    int limit_s;              /* of the waiting; negative: none */
    struct sc_options parsed; /* of `options` */
    struct sc_scratch scratch;
};

/* A later entry overrules. */
void sc_run_work_add_entry(struct sc_run_work *work, const char *key, const char *value);

/* Each of these says why it returns false. */

bool sc_run_work_is_value(const char *value);

/* Has each process write its report into a folder, which is made if it does not exist. False: it
 * cannot be made, and stderr was told why. */
bool sc_run_work_add_folder(struct sc_run_work *work, const char *path);

/* The library would leave a malformed entry out, and go on. */
bool sc_run_work_add_suppressions(struct sc_run_work *work, const char *path);

bool sc_run_work_parse(struct sc_run_work *work);

/* Makes report_path absolute: a relative one would begin where each process first touches CUDA. */
bool sc_run_work_anchor(struct sc_run_work *work);

bool sc_run_work_set_environment(struct sc_run_work *work);

/* Says why the program cannot be run. Returns the status to end with, as a shell has it. */
int sc_run_work_refuse_program(const char *program, int error);

#endif

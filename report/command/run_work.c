#define _GNU_SOURCE 1
#include "report/command/run_work.h"

#include "report/command/preload.h"
#include "report/command/say.h"
#include "report/command/suppressed.h"
#include "report/path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- entries ---- */

static void complain(void *context, const char *line)
{
    (void)context;
    sc_say("%s", line);
}

/* Adds an entry to the options that the program will get. Later entries win. */
void sc_run_work_add_entry(struct sc_run_work *work, const char *key, const char *value)
{
    const char *separator = work->options[0] != '\0' ? ":" : "";
    work->options =
        sc_scratch_print(&work->scratch, "%s%s%s%s", work->options, separator, key, value);
}

/* Returns whether the value is allowed among the options, and prints why not. */
bool sc_run_work_is_value(const char *value)
{
    if (!strchr(value, ':'))
        return true;
    sc_say("'%s' cannot be given: ':' separates options", value);
    return false;
}

/* Can reports be written there? A '%' in the folder's name would have a meaning in report_path. */
static bool is_folder_of_reports(const char *folder)
{
    if (!strchr(folder, '%'))
        return true;
    sc_say("%s cannot take reports: '%%' has a meaning in report_path", folder);
    return false;
}

/* Returns the absolute path, since the program may change its folder. Returns NULL after a message
 * if the path cannot be used. */
static const char *absolute_path(struct sc_run_work *work, const char *path)
{
    char *absolute = sc_scratch_take(&work->scratch, PATH_MAX);
    if (realpath(path, absolute))
        return sc_run_work_is_value(absolute) ? absolute : NULL;
    sc_say("cannot use %s: %s", path, strerror(errno));
    return NULL;
}

/* Makes the folder of --report-dir if it does not exist. Returns false, after a message, if that
 * is not possible. */
static bool make_folder(const char *path)
{
    struct stat status;
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        sc_say("cannot make the folder %s: %s", path, strerror(errno));
        return false;
    }
    if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode)) {
        sc_say("%s is no folder", path);
        return false;
    }
    return true;
}

/* Has reports written into this folder, which is made if need be. */
bool sc_run_work_add_folder(struct sc_run_work *work, const char *path)
{
    const char *folder = make_folder(path) ? absolute_path(work, path) : NULL;
    if (!folder || !is_folder_of_reports(folder))
        return false;
    sc_run_work_add_entry(work, "report_path=",
                          sc_scratch_print(&work->scratch, "%s/safecopy.%%e.%%p.jsonl", folder));
    return true;
}

/* Checks the file of suppressions before the program runs, and names it by its whole path. */
bool sc_run_work_add_suppressions(struct sc_run_work *work, const char *path)
{
    struct sc_suppressed *suppressed = sc_suppressed_read(path);
    const char *absolute = suppressed ? absolute_path(work, path) : NULL;
    if (absolute)
        sc_run_work_add_entry(work, "suppressions=", absolute);
    sc_suppressed_free(suppressed);
    sc_outfile_keep(path);
    return absolute;
}

/* Parses the options as the library will, and complains about bad ones. Returns whether all are
 * good. */
bool sc_run_work_parse(struct sc_run_work *work)
{
    sc_options_defaults(&work->parsed);
    return sc_options_check(&work->parsed, work->options, complain, NULL) == 0;
}

/* ---- where the reports are ---- */

/* Can reports be read again from where report_path leads? What is there may be of the kind that
 * reports are written to, and not read from. */
static bool can_be_shown(const char *report_path)
{
    struct stat status;
    if (strcmp(report_path, "none") != 0 &&
        (lstat(report_path, &status) != 0 || S_ISREG(status.st_mode)))
        return true;
    sc_say("report_path=%s leaves nothing to show", report_path);
    return false;
}

/* Makes report_path absolute, so that it is the same for programs that change their folder. */
bool sc_run_work_anchor(struct sc_run_work *work)
{
    const char *path = work->parsed.report_path;
    if (!can_be_shown(path))
        return false;
    if (path[0] == '/')
        return true;
    const char *folder = absolute_path(work, ".");
    if (!folder || !is_folder_of_reports(folder))
        return false;
    sc_run_work_add_entry(work,
                          "report_path=", sc_scratch_print(&work->scratch, "%s/%s", folder, path));
    return sc_run_work_parse(work);
}

/* ---- what is started ---- */

/* Sets what the program inherits, so that the library is loaded with its options. */
bool sc_run_work_set_environment(struct sc_run_work *work)
{
    const char *library = sc_preload_find(&work->scratch);
    if (!library ||
        !(work->is_injected ? sc_preload_inject(library) : sc_preload_set(&work->scratch, library)))
        return false;
    if (work->options[0] != '\0')
        setenv("SAFECOPY_OPTIONS", work->options, 1);
    if (work->parsed.strict && work->parsed.mode == SC_MODE_OFF)
        sc_say("strict=1 and mode=off: nothing is looked for%s",
               work->requires_judged ? "" : ", so the run cannot fail");
    char letter = sc_path_unknown_letter(work->parsed.report_path);
    if (letter)
        sc_say(
            "report_path has %%%c, which means nothing and stays as it is; %%p, %%e, %%h and %%r "
            "mean something",
            letter);
    if (work->parsed.verbosity >= 2)
        sc_say("%s %s", work->is_injected ? "injecting" : "preloading", library);
    return true;
}

/* Is the program in the working folder, and named without a path? exec and the shell do not look
 * there. */
static bool is_beside(const char *program)
{
    struct stat status;
    return !strchr(program, '/') && stat(program, &status) == 0 && S_ISREG(status.st_mode);
}

/* Prints why the program cannot be run. Returns the exit status that a shell has for it. */
int sc_run_work_refuse_program(const char *program, int error)
{
    if (error == ENOENT && is_beside(program))
        sc_say("cannot run %s: it is not in PATH, but in this folder: ./%s", program, program);
    else
        sc_say("cannot run %s: %s", program, strerror(error));
    return error == ENOENT ? 127 : 126;
}

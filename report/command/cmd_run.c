#define _GNU_SOURCE 1
#include "report/command/command.h"

#include "report/command/flags.h"
#include "report/command/outfile.h"
#include "report/command/run_judged.h"
#include "report/command/run_work.h"
#include "report/command/say.h"
#include "report/command/source_roots.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- flags ---- */

/* Adds KEY=VALUE to the options of the library. Returns false if the value cannot stand there. */
static bool take_value(struct sc_run_work *work, const char *key, const char *value)
{
    if (!sc_run_work_is_value(value))
        return false;
    sc_run_work_add_entry(work, key, value);
    return true;
}

/* Takes a flag that says where reports go. Only one of --report and --report-dir may be given;
 * that one of them has two values is refused in flags.c. */
static bool take_place(struct sc_run_work *work, int flag)
{
    bool is_other = work->place_flag != 0 && work->place_flag != flag;
    if (is_other)
        sc_say("--report and --report-dir both say where reports go: give one of them");
    work->place_flag = flag;
    return !is_other;
}

/* Handles --wait, with how long the run's processes are waited for; `seconds` NULL: without an end.
 */
static bool take_limit(struct sc_run_work *work, const char *seconds)
{
    char *end = NULL;
    long limit = seconds ? strtol(seconds, &end, 10) : -1;
    work->awaits = true;
    work->limit_s = (int)limit;
    if (!seconds || (end != seconds && *end == '\0' && limit >= 0 && limit <= INT_MAX))
        return true;
    sc_say("--wait takes seconds, and not '%s'", seconds);
    return false;
}

/* Handles one flag of `safecopy run`. Returns false, after a message, if the flag or its value is
 * wrong. */
static bool take_flag(struct sc_run_work *work, int flag)
{
    switch (flag) {
    case 's':
        return take_value(work, "strict=", optarg ? optarg : "1");
    case 'k':
        sc_run_work_add_entry(work, "", optarg);
        return true;
    case 'r':
        return take_place(work, flag) && take_value(work, "report_path=", optarg);
    case 'd':
        return take_place(work, flag) && sc_run_work_add_folder(work, optarg);
    case 'u':
        return sc_run_work_add_suppressions(work, optarg);
    case 'f':
        work->format = optarg;
        return sc_command_has_format(optarg);
    case 'o':
        work->out.path = optarg;
        return true;
    case 'm':
        return sc_outfile_take_mode(&work->out, optarg);
    case 't':
        return sc_source_roots_add(&work->roots, optarg);
    case 'i':
        work->is_injected = true;
        return true;
    case 'w':
        return take_limit(work, optarg);
    case 'j':
        work->requires_judged = true;
        return true;
    default:
        return false;
    }
}

/* Hints at flags of `safecopy run` that stand behind the program, where they are the program's: a
 * user who means --strict for us would never learn that nothing was judged. Called if the run
 * itself has no flag. Arguments behind "--" are certainly the program's. */
static void hint_at_flags_behind(char *const *program)
{
    static const char *const telling[] = {"--strict", "--report-dir", "--suppressions"};
    for (char *const *word = program + 1; *word && strcmp(*word, "--") != 0; word++)
        for (size_t i = 0; i < sizeof telling / sizeof telling[0]; i++)
            if (strncmp(*word, telling[i], strlen(telling[i])) == 0 &&
                strchr("=", (*word)[strlen(telling[i])])) {
                sc_say("%s is handed to %s; if it is meant for safecopy run, it stands before the "
                       "program",
                       *word, program[0]);
                return;
            }
}

/* Parses all flags. Returns false if one is wrong. Leaves optind at the program. */
static bool take_flags(struct sc_run_work *work, int argc, char **argv)
{
    int flag;
    while ((flag = sc_flags_next(argc, argv)) != -1)
        if (!take_flag(work, flag))
            return false;
    if (work->out.path && !sc_outfile_is_possible(work->out.path))
        return false;
    if (work->out.path && !work->format)
        sc_say("-o %s has nothing to take: --format says what is shown", work->out.path);
    else if (work->roots.count > 0 && !work->format)
        sc_say("--source-root has nothing to hold: --format says what is shown");
    else if (!sc_outfile_has_use_of_mode(&work->out))
        return false;
    else if (optind == argc)
        sc_say("run what? name a program; see safecopy help run");
    else
        return true;
    return false;
}

/* ---- the run ---- */

/* Becomes the program, with the library preloaded. */
static int run(struct sc_run_work *work, char **program)
{
    if (!sc_run_work_set_environment(work))
        return SC_COMMAND_USAGE;
    execvp(program[0], program);
    return sc_run_work_refuse_program(program[0], errno);
}

/* Runs the program and judges its reports, or becomes it if nothing is to be done after it. */
static int run_as_asked(struct sc_run_work *work, char **program)
{
    if (work->requires_judged && !work->parsed.strict)
        sc_say("--require-judged has nothing to require: --strict judges");
    else if (work->format || work->parsed.strict)
        return sc_run_judged(work, program);
    else if (work->awaits)
        sc_say("--wait has nothing to wait for: --strict judges and --format shows what is "
               "reported");
    else
        return run(work, program);
    return SC_COMMAND_USAGE;
}

/* Runs `safecopy run`: takes the flags, sets the environment and starts the program. The options
 * of the environment hold unless a flag changes them. */
int sc_command_run(int argc, char **argv)
{
    static struct sc_run_work work; /* two paths of its options are long */
    const char *inherited = getenv("SAFECOPY_OPTIONS");
    work.options = inherited ? inherited : "";
    int status = SC_COMMAND_USAGE;
    bool is_right = take_flags(&work, argc, argv) && sc_run_work_parse(&work);
    if (is_right && optind == 1)
        hint_at_flags_behind(argv + optind);
    if (is_right)
        status = run_as_asked(&work, argv + optind);
    sc_source_roots_free(&work.roots);
    sc_scratch_free(&work.scratch);
    return status;
}

#define _GNU_SOURCE 1
#include "report/command/command.h"

#include "report/command/left_running.h"
#include "report/command/new_reports.h"
#include "report/command/outfile.h"
#include "report/command/preload.h"
#include "report/command/program.h"
#include "report/command/run_ledger.h"
#include "report/command/say.h"
#include "report/command/scratch.h"
#include "report/command/source_roots.h"
#include "report/command/suppressed.h"
#include "report/command/verdict.h"
#include "report/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the flags ask for. */
struct work {
    const char *options;         /* what SAFECOPY_OPTIONS becomes; a later entry overrules */
    const char *format;          /* NULL: nothing is shown at the end */
    struct sc_outfile_place out; /* its path NULL: stderr */
    struct sc_source_roots roots;
    bool is_injected;
    bool awaits; /* all that the program leaves running */
    int limit_s; /* of the waiting; negative: none */
    struct sc_options parsed; /* of `options` */
    struct sc_scratch scratch;
};

/* ---- options of the library ---- */

static void complain(void *context, const char *line)
{
    (void)context;
    sc_say("%s", line);
}

static void add_entry(struct work *work, const char *key, const char *value)
{
    const char *separator = work->options[0] != '\0' ? ":" : "";
    work->options =
        sc_scratch_print(&work->scratch, "%s%s%s%s", work->options, separator, key, value);
}

static bool is_option_value(const char *value)
{
    if (!strchr(value, ':'))
        return true;
    sc_say("'%s' cannot be given: ':' separates options", value);
    return false;
}

/* '%' has a meaning in report_path. */
static bool is_folder_of_reports(const char *folder)
{
    if (!strchr(folder, '%'))
        return true;
    sc_say("%s cannot take reports: '%%' has a meaning in report_path", folder);
    return false;
}

/* The absolute path, since the program may change its folder. NULL after it has said why the path
 * cannot be used. */
static const char *absolute_path(struct work *work, const char *path)
{
    char *absolute = sc_scratch_take(&work->scratch, PATH_MAX);
    if (realpath(path, absolute))
        return is_option_value(absolute) ? absolute : NULL;
    sc_say("cannot use %s: %s", path, strerror(errno));
    return NULL;
}

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

/* A report for each process in a folder, which is made if it is not there. */
static bool add_report_folder(struct work *work, const char *path)
{
    const char *folder = make_folder(path) ? absolute_path(work, path) : NULL;
    if (!folder || !is_folder_of_reports(folder))
        return false;
    add_entry(work, "report_path=",
              sc_scratch_print(&work->scratch, "%s/safecopy.%%e.%%p.jsonl", folder));
    return true;
}

/* The library would leave a malformed entry out, and go on. */
static bool add_suppressions(struct work *work, const char *path)
{
    struct sc_suppressed *suppressed = sc_suppressed_read(path);
    const char *absolute = suppressed ? absolute_path(work, path) : NULL;
    if (absolute)
        add_entry(work, "suppressions=", absolute);
    sc_suppressed_free(suppressed);
    sc_outfile_keep(path);
    return absolute;
}

static bool parse_options(struct work *work)
{
    sc_options_defaults(&work->parsed);
    return sc_options_parse(&work->parsed, work->options, complain, NULL) == 0;
}

/* ---- flags ---- */

static bool take_value(struct work *work, const char *key, const char *value)
{
    if (!is_option_value(value))
        return false;
    add_entry(work, key, value);
    return true;
}

/* NULL: without an end. */
static bool take_limit(struct work *work, const char *seconds)
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

static bool take_flag(struct work *work, int flag, char **argv)
{
    switch (flag) {
    case 's':
        return take_value(work, "strict=", optarg ? optarg : "1");
    case 'k':
        add_entry(work, "", optarg);
        return true;
    case 'r':
        return take_value(work, "report_path=", optarg);
    case 'd':
        return add_report_folder(work, optarg);
    case 'u':
        return add_suppressions(work, optarg);
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
    default:
        sc_command_refuse_flag(argv);
        return false;
    }
}

/* Leaves optind at the program. */
static bool take_flags(struct work *work, int argc, char **argv)
{
    static const struct option flags[] = {
        {"strict", optional_argument, NULL, 's'},
        {"option", required_argument, NULL, 'k'},
        {"report", required_argument, NULL, 'r'},
        {"report-dir", required_argument, NULL, 'd'},
        {"suppressions", required_argument, NULL, 'u'},
        {"format", required_argument, NULL, 'f'},
        {"output", required_argument, NULL, 'o'},
        {"output-mode", required_argument, NULL, 'm'},
        {"source-root", required_argument, NULL, 't'},
        {"injection", no_argument, NULL, 'i'},
        {"wait", optional_argument, NULL, 'w'},
        {NULL, 0, NULL, 0},
    };
    int flag;
    opterr = 0;
    while ((flag = getopt_long(argc, argv, "+o:", flags, NULL)) != -1)
        if (!take_flag(work, flag, argv))
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
        sc_say("run what? name a program; see safecopy --help");
    else
        return true;
    return false;
}

/* ---- the run ---- */

static bool set_environment(struct work *work)
{
    const char *library = sc_preload_find(&work->scratch);
    if (!library ||
        !(work->is_injected ? sc_preload_inject(library) : sc_preload_set(&work->scratch, library)))
        return false;
    if (work->options[0] != '\0')
        setenv("SAFECOPY_OPTIONS", work->options, 1);
    if (work->parsed.strict && work->parsed.mode == SC_MODE_OFF)
        sc_say("strict=1 and mode=off: nothing is looked for, so the run cannot fail");
    if (work->parsed.verbosity == 2)
        sc_say("%s %s", work->is_injected ? "injecting" : "preloading", library);
    return true;
}

static int refuse_program(const char *program, int error)
{
    sc_say("cannot run %s: %s", program, strerror(error));
    return error == ENOENT ? 127 : 126;
}

static int run(struct work *work, char **program)
{
    if (!set_environment(work))
        return SC_COMMAND_USAGE;
    execvp(program[0], program);
    return refuse_program(program[0], errno);
}

/* ---- the run, and then what it has reported ---- */

/* What is there may be of the kind that reports are written to, and not read from. */
static bool can_be_shown(const char *report_path)
{
    struct stat status;
    if (strcmp(report_path, "none") != 0 &&
        (lstat(report_path, &status) != 0 || S_ISREG(status.st_mode)))
        return true;
    sc_say("report_path=%s leaves nothing to show", report_path);
    return false;
}

/* A relative path would begin where each process first touches CUDA. */
static bool anchor_reports(struct work *work)
{
    const char *path = work->parsed.report_path;
    if (!can_be_shown(path))
        return false;
    if (path[0] == '/')
        return true;
    const char *folder = absolute_path(work, ".");
    if (!folder || !is_folder_of_reports(folder))
        return false;
    add_entry(work, "report_path=", sc_scratch_print(&work->scratch, "%s/%s", folder, path));
    return parse_options(work);
}

static bool is_shown_on_stderr(const struct work *work)
{
    return work->format && !work->out.path;
}

static void show(struct work *work, char *const *paths)
{
    signal(SIGPIPE, SIG_IGN);
    sc_command_show(work->format, &work->out, &work->roots, paths);
}

/* Why a run fails that is strict, or NULL. *doubt: nobody knows whether it does. */
static const char *reason_to_fail(struct work *work, const struct sc_run_ledger *ledger,
                                  char *const *paths, const char **doubt)
{
    bool counts_latent = work->parsed.certainty == SC_LATENT;
    if (sc_verdict_find(paths, work->parsed.certainty, ledger, &work->scratch, doubt))
        return "a process that was started had a hazard";
    if (sc_run_ledger_says(ledger, SC_LEDGER_OBSERVED) ||
        (counts_latent && sc_run_ledger_says(ledger, SC_LEDGER_LATENT)))
        return "a process that was started had a hazard, of which no report here tells,";
    if (sc_run_ledger_says(ledger, SC_LEDGER_FAILED))
        return "a process that was started fails by its options";
    return NULL;
}

/* A hazard of any process, and a doubt, fail a program that is content with itself. */
static int end_content(struct work *work, const char *reason, const char *doubt)
{
    if (!reason && !doubt)
        return 0;
    sc_say("strict: %s%s%s and the program ended with 0; exit status %d",
           reason ? reason : "unknown, ", reason ? "" : doubt, reason ? "" : ",",
           work->parsed.exitcode);
    return work->parsed.exitcode;
}

/* Where the processes print no summaries, they have not said it themselves. */
static void tell_of_failed(const struct work *work, int status)
{
    if (WIFSIGNALED(status))
        sc_say("strict: failed; the program was ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == work->parsed.exitcode)
        sc_say("strict: failed, exit status %d", work->parsed.exitcode);
    else
        sc_say("strict: failed; the program's own exit status %d stays", WEXITSTATUS(status));
}

/* The status to end with. */
static int end(struct work *work, const struct sc_run_ledger *ledger, char *const *paths,
               int status)
{
    const char *doubt = NULL;
    const char *reason =
        work->parsed.strict ? reason_to_fail(work, ledger, paths, &doubt) : NULL;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return end_content(work, reason, doubt);
    if (reason && is_shown_on_stderr(work))
        tell_of_failed(work, status);
    return sc_program_end_alike(status);
}

static void tell_without_reports(const struct sc_run_ledger *ledger)
{
    if (ledger->said != 0)
        sc_say("no report of this run is there to show");
    else
        sc_say(
            "no process has written a report: nothing used CUDA, or what did was not reached, or "
            "could not write one (another user's process, say)");
}

/* Whom no look has found (another user's process, say) may have noted a report. */
static void tell_what_runs(struct work *work, const struct sc_run_ledger *ledger,
                           const char *running)
{
    for (size_t i = 0; !running && i < ledger->living_count; i++)
        running = sc_scratch_print(&work->scratch, "%d", (int)ledger->living[i].pid);
    if (running)
        sc_say("still running: %s; what is reported from now on is neither shown nor judged "
               "(--wait waits)",
               running);
}

/* Shows what has been reported, and returns the status to end with. */
static int conclude(struct work *work, struct sc_new_reports *reports, struct sc_run_ledger *ledger,
                    int status)
{
    if (work->awaits)
        sc_program_await_orphans(work->limit_s);
    const char *running = sc_left_running_find(&work->scratch, ledger);
    sc_run_ledger_read(ledger);
    char **paths = sc_new_reports_find(reports, &work->scratch, ledger);
    if (work->format && paths[0])
        show(work, paths);
    else if (work->format)
        tell_without_reports(ledger);
    tell_what_runs(work, ledger, running);
    return end(work, ledger, paths, status);
}

static int run_and_judge(struct work *work, char **program)
{
    struct sc_new_reports reports = {0};
    struct sc_run_ledger ledger;
    if ((work->format && !anchor_reports(work)) || !set_environment(work))
        return SC_COMMAND_USAGE;
    const char *path = work->parsed.report_path;
    sc_run_ledger_begin(&ledger, is_shown_on_stderr(work));
    sc_new_reports_begin(&reports, &work->scratch, strcmp(path, "none") != 0 ? path : NULL);
    bool is_to_stdout = work->out.path && strcmp(work->out.path, "-") == 0;
    int status = sc_program_run(
        program, &(struct sc_program_ways){
                     .out = is_to_stdout ? SC_PROGRAM_STDOUT_KEPT : SC_PROGRAM_STDOUT_LET_GO,
                     .own = ledger.file,
                     .is_orphanage = work->awaits});
    if (status < 0)
        status = refuse_program(program[0], -status);
    else
        status = conclude(work, &reports, &ledger, status);
    sc_new_reports_free(&reports);
    sc_run_ledger_free(&ledger);
    return status;
}

static int run_as_asked(struct work *work, char **program)
{
    if (work->format || work->parsed.strict)
        return run_and_judge(work, program);
    if (!work->awaits)
        return run(work, program);
    sc_say("--wait has nothing to wait for: --strict judges and --format shows what is reported");
    return SC_COMMAND_USAGE;
}

int sc_command_run(int argc, char **argv)
{
    static struct work work; /* two paths of its options are long */
    const char *inherited = getenv("SAFECOPY_OPTIONS");
    work.options = inherited ? inherited : "";
    int status = SC_COMMAND_USAGE;
    if (take_flags(&work, argc, argv) && parse_options(&work))
        status = run_as_asked(&work, argv + optind);
    sc_source_roots_free(&work.roots);
    sc_scratch_free(&work.scratch);
    return status;
}

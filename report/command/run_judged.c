#define _GNU_SOURCE 1
#include "report/command/run_judged.h"

#include "common/hazard_words.h"
#include "report/command/command.h"
#include "report/command/left_running.h"
#include "report/command/new_reports.h"
#include "report/command/program.h"
#include "report/command/run_roll.h"
#include "report/command/run_unjudged.h"
#include "report/command/say.h"
#include "report/command/verdict.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* Does the command show the reports on stderr? Then the processes print no summary of their
 * own. */
static bool is_shown_on_stderr(const struct sc_run_work *work)
{
    return work->format && !work->out.path;
}

/* Shows the reports of the run as --format says. A reader that closes the pipe must not end us by
 * SIGPIPE: the run's status is still to be returned. */
static void show(struct sc_run_work *work, char *const *paths)
{
    signal(SIGPIPE, SIG_IGN);
    sc_command_show(work->format, &work->out, &work->roots, paths);
}

/* Returns why a strict run fails; NULL: it does not fail, or it is not known whether it should.
 * *doubt: why that is not known; NULL: it is. */
static const char *reason_to_fail(struct sc_run_work *work, const struct sc_run_roll *roll,
                                  char *const *paths, const char **doubt)
{
    bool counts_latent = work->parsed.certainty == SC_LATENT;
    struct sc_verdict verdict =
        sc_verdict_find(paths, work->parsed.certainty, roll, &work->scratch);
    bool lacks_verdict = work->requires_judged && !verdict.is_judged;
    *doubt = verdict.doubt || !lacks_verdict ? verdict.doubt : "as nothing was judged";
    if (verdict.fails)
        return "a process that was started had a hazard";
    if (sc_run_roll_says(roll, SC_ROLL_OBSERVED) ||
        (counts_latent && sc_run_roll_says(roll, SC_ROLL_LATENT)))
        return "a process that was started had a hazard, of which no report here tells,";
    if (sc_run_roll_says(roll, SC_ROLL_FAILED))
        return "a process that was started fails by its options";
    return NULL;
}

/* Returns the exit status for a program that ended with 0: `exitcode`, after a message, if there
 * is a reason to fail, or a doubt; else 0. */
static int end_content(struct sc_run_work *work, const char *reason, const char *doubt)
{
    if (!reason && !doubt)
        return 0;
    sc_say("strict: %s%s%s and the program ended with 0; exit status %d",
           reason ? reason : "unknown, ", reason ? "" : doubt, reason ? "" : ",",
           work->parsed.exitcode);
    return work->parsed.exitcode;
}

/* Returns whether a process has printed the outcome itself, so that the command need not. If the
 * exit status is that of a failed run, any process may have printed it; otherwise the program
 * itself must have (one that a signal ended, or that became another program, has not). If the
 * command shows the reports on stderr, no process prints a summary. */
static bool has_said(const struct sc_run_work *work, const struct sc_run_roll *roll, int program,
                     int status)
{
    struct sc_run_note note;
    if (is_shown_on_stderr(work))
        return false;
    if (work->parsed.verbosity == 0)
        return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == work->parsed.exitcode)
        return sc_run_roll_says(roll, SC_ROLL_TOLD);
    for (size_t at = 0; sc_run_roll_next(roll, &at, &note);)
        if (note.pid == program && note.what == SC_ROLL_TOLD)
            return true;
    return false;
}

/* Writes to stderr that the strict run has failed although the program has its own way to end: by
 * a signal, or with an exit status, which stays. */
static void tell_of_failed(const struct sc_run_work *work, int status)
{
    if (WIFSIGNALED(status))
        sc_say("strict: failed; the program was ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == work->parsed.exitcode)
        sc_say("strict: failed, exit status %d", work->parsed.exitcode);
    else
        sc_say("strict: failed; the program's own exit status %d stays", WEXITSTATUS(status));
}

/* Returns whether no process was watched, as far as is known, while somebody relies on the outcome
 * (--strict or a gate). */
static bool is_unjudged(const struct sc_run_work *work, const struct sc_run_roll *roll,
                        char *const *paths)
{
    unsigned nothing = 1U << SC_ROLL_KILLED | 1U << SC_ROLL_OFF;
    return work->parsed.strict && !paths[0] && (roll->said & ~nothing) == 0 && !roll->is_unread &&
           !roll->lacks;
}

/* Prints how the run has ended. Returns the status to end with. */
static int end(struct sc_run_work *work, const struct sc_run_roll *roll, char *const *paths,
               int program, int status)
{
    const char *doubt = NULL;
    const char *reason = work->parsed.strict ? reason_to_fail(work, roll, paths, &doubt) : NULL;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return end_content(work, reason, doubt);
    if (reason && !has_said(work, roll, program, status))
        tell_of_failed(work, status);
    return sc_program_end_alike(status);
}

/* Writes to stderr that there is no report to show, and possible reasons. */
static void tell_without_reports(const struct sc_run_roll *roll)
{
    if (roll->said != 0)
        sc_say("no report of this run is there to show");
    else
        sc_say(
            "no process has written a report: nothing used CUDA, or what did was not reached, or "
            "could not write one (another user's process, say)");
}

/* Prints which processes of the run are still running. One that was not found (another user's, say)
 * may still have recorded a report. */
static void tell_what_runs(struct sc_run_work *work, const struct sc_run_roll *roll,
                           const char *running)
{
    for (size_t i = 0; !running && i < roll->living_count; i++)
        running = sc_scratch_print(&work->scratch, "%d", (int)roll->living[i].pid);
    if (running)
        sc_say("still running: %s; what is reported from now on is neither shown nor judged "
               "(--wait waits)",
               running);
}

/* Shows what has been reported, and returns the status to end with. */
static int conclude(struct sc_run_work *work, struct sc_new_reports *reports,
                    struct sc_run_roll *roll, const char *program, int pid, int status)
{
    const char *running = sc_left_running_find(&work->scratch, roll);
    sc_run_roll_read(roll);
    char **paths = sc_new_reports_find(reports, &work->scratch, roll);
    if (is_unjudged(work, roll, paths))
        sc_run_unjudged_say(work, roll, program);
    else if (work->format && paths[0])
        show(work, paths);
    else if (work->format)
        tell_without_reports(roll);
    if (work->parsed.strict)
        sc_run_unjudged_say_off(work, roll);
    tell_what_runs(work, roll, running);
    return end(work, roll, paths, pid, status);
}

/* Runs the program and waits for it, then shows its reports (--format) and judges the run by what
 * its processes have noted (--strict). Returns the exit status. */
int sc_run_judged(struct sc_run_work *work, char **program)
{
    struct sc_new_reports reports = {0};
    struct sc_run_roll roll;
    if ((work->format && !sc_run_work_anchor(work)) || !sc_run_work_set_environment(work))
        return SC_COMMAND_USAGE;
    const char *path = work->parsed.report_path;
    sc_run_roll_begin(&roll, is_shown_on_stderr(work));
    sc_new_reports_begin(&reports, &work->scratch, strcmp(path, "none") != 0 ? path : NULL);
    int pid = -1;
    bool is_to_stdout = work->out.path && strcmp(work->out.path, "-") == 0;
    int status = sc_program_run(
        program, &(struct sc_program_ways){.out = is_to_stdout ? SC_PROGRAM_STDOUT_KEPT
                                                               : SC_PROGRAM_STDOUT_LET_GO,
                                           .own = roll.file,
                                           .pid = &pid,
                                           .awaits = work->awaits,
                                           .limit_s = work->limit_s});
    if (status < 0)
        status = sc_run_work_refuse_program(program[0], -status);
    else
        status = conclude(work, &reports, &roll, program[0], pid, status);
    sc_new_reports_free(&reports);
    sc_run_roll_free(&roll);
    return status;
}

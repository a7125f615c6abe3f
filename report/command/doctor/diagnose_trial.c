#define _GNU_SOURCE 1
#include "report/command/doctor/diagnosis.h"

#include <string.h>
#include <sys/wait.h>

static const char section[] = "trial";

#define OK(id, ...) sc_diagnosis_add(diagnosis, SC_LEVEL_OK, section, id, NULL, __VA_ARGS__)
#define NOTE(id, remedy, ...)                                                                      \
    sc_diagnosis_add(diagnosis, SC_LEVEL_NOTE, section, id, remedy, __VA_ARGS__)
#define PROBLEM(id, remedy, ...)                                                                   \
    sc_diagnosis_add(diagnosis, SC_LEVEL_PROBLEM, section, id, remedy, __VA_ARGS__)

/* Says how the program that was tried has ended. That it fails need not be the library's doing. */
static void say_end(struct sc_diagnosis *diagnosis, const struct sc_trial_facts *facts)
{
    int status = facts->wait_status;
    static const char compare[] = "Run it without safecopy: if it ends otherwise then, tell the "
                                  "project";
    if (WIFSIGNALED(status))
        NOTE("ended-by-signal", compare, "the program was ended by a signal (%d, %s)",
             WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) == facts->strict_status)
        NOTE("strict-status", NULL,
             "the program ended with status %d, as strict=1 has it: for a hazard, or for a setting "
             "that is named above",
             WEXITSTATUS(status));
    else if (WEXITSTATUS(status) != 0)
        NOTE("exit-status", compare, "the program ended with status %d", WEXITSTATUS(status));
    else
        OK("exit-status", "the program ended with status 0");
}

/* Adds findings that say what reports the tried program has written. */
static void say_reports(struct sc_diagnosis *diagnosis, const struct sc_trial_facts *facts)
{
    size_t count = facts->report_count - facts->unreached_count;
    OK("came-up", "the library came up: %zu process%s used CUDA and reported", count,
       count == 1 ? "" : "es");
    if (facts->hazard_count > 0)
        NOTE("hazards", "safecopy run --report-dir DIR --format text shows them",
             "%zu hazard%s found", facts->hazard_count,
             facts->hazard_count == 1 ? " was" : "s were");
    if (facts->unended_count > 0)
        NOTE("no-summary", NULL,
             "%zu report%s no summary: the process was killed, or has not ended yet",
             facts->unended_count, facts->unended_count == 1 ? " has" : "s have");
}

/* Adds findings that say why the library was loaded and has reported nothing. */
static void say_unseen(struct sc_diagnosis *diagnosis, const struct sc_trial_facts *facts)
{
    if (facts->is_off)
        NOTE("off", NULL, "the library was loaded, and does nothing: mode=off");
    else if (facts->loaded_driver)
        NOTE("driver-unused", NULL,
             "the library was loaded, and so was the driver, but no report was written: CUDA was "
             "not started, or SAFECOPY_OPTIONS was lost on the way");
    else
        NOTE("no-cuda", NULL,
             "the library was loaded, and saw no use of CUDA: try the program with arguments by "
             "which it uses the GPU");
}

/* Adds findings from what the loaders have printed about the tried program. Is called where no
 * report was written. */
static void say_loaded(struct sc_diagnosis *diagnosis, const struct sc_trial_facts *facts)
{
    static const char remedy[] = "See what is said of the program above, and what the loader says "
                                 "on stderr";
    if (facts->reached_count == 0 && facts->not_found)
        PROBLEM("not-begun",
                "Install what it is linked with, or name the folder in LD_LIBRARY_PATH; libcudart "
                "comes with CUDA's toolkit, and with the wheel nvidia-cuda-runtime",
                "the loader did not begin the program: it does not find %s", facts->not_found);
    else if (facts->reached_count == 0)
        PROBLEM("not-loaded", remedy, "the library was not loaded into the program");
    else
        say_unseen(diagnosis, facts);
}

/* Adds findings that say which processes of the program ran without the library. */
static void say_lost(struct sc_diagnosis *diagnosis, const struct sc_trial_facts *facts)
{
    if (facts->passed_by)
        PROBLEM("driver-without-library",
                "Have its starter keep LD_PRELOAD, and look at it alone with safecopy doctor",
                "%s loaded the driver, and not the library", facts->passed_by);
    else if (facts->missed)
        NOTE("lost-on-the-way", "Look at it alone with safecopy doctor, if it uses CUDA",
             "%s ran without the library: its starter has changed LD_PRELOAD, or it cannot be "
             "preloaded",
             facts->missed);
}

/* Adds findings that say what came of running the program with the library. */
void sc_diagnosis_of_trial(struct sc_diagnosis *diagnosis, const struct sc_trial_facts *facts)
{
    if (facts->error != 0) {
        PROBLEM("not-started", "See what is said of the program above",
                "the program cannot be started: %s", strerror(facts->error));
        return;
    }
    if (facts->unreached_count > 0)
        PROBLEM("unreached",
                "Take away what stands between the program and the driver (a profiler, a loader of "
                "its own); safecopy run --injection may reach it",
                "%s used CUDA, and no call of it came through the library",
                facts->unreached ? facts->unreached : "a process");
    if (facts->report_count > facts->unreached_count)
        say_reports(diagnosis, facts);
    else if (facts->unreached_count == 0)
        say_loaded(diagnosis, facts);
    if (facts->reached_count > 0)
        say_lost(diagnosis, facts);
    if (facts->reached_count > 0 || !facts->not_found)
        say_end(diagnosis, facts);
}

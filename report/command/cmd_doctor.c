#define _GNU_SOURCE 1
#include "report/command/command.h"

#include "report/command/doctor/ask.h"
#include "report/command/doctor/diagnosis.h"
#include "report/command/doctor/machine.h"
#include "report/command/doctor/program_file.h"
#include "report/command/doctor/show.h"
#include "report/command/doctor/trial.h"
#include "report/command/flags.h"
#include "report/command/say.h"
#include "report/command/scratch.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct visit {
    struct sc_scratch scratch;
    bool shows_json;
    bool only_looks;
    char *folder;   /* for reports; empty, and ours */
    char **program; /* NULL: the machine alone is asked for */
    struct sc_machine_facts machine;
    struct sc_program_facts files;
    struct sc_trial_facts trial;
    bool was_tried;
    struct sc_diagnosis diagnosis;
};

/* ---- flags ---- */

/* Takes the value of --format. Returns whether the doctor has that format. */
static bool take_format(struct visit *visit, const char *format)
{
    visit->shows_json = strcmp(format, "json") == 0;
    if (visit->shows_json || strcmp(format, "text") == 0)
        return true;
    sc_say("there is no format '%s' here: text or json", format);
    return false;
}

/* Reads the flags and what program is to be looked at. Returns false if they are wrong. */
static bool take_flags(struct visit *visit, int argc, char **argv)
{
    int flag;
    while ((flag = sc_flags_next(argc, argv)) != -1) {
        if (flag == 'n')
            visit->only_looks = true;
        else if (flag != 'f' || !take_format(visit, optarg))
            return false;
    }
    visit->program = optind < argc ? argv + optind : NULL;
    return true;
}

/* ---- the folder ---- */

/* Can the doctor's folder be made below `parent`? Its path goes into report_path, where ':' would
 * end it and '%' would have a meaning. */
static bool can_hold_it(const char *parent)
{
    return parent && parent[0] == '/' && !strpbrk(parent, ":%");
}

/* Makes the folder for reports of what is tried. A container's /tmp is often read-only, and TMPDIR
 * may name what is not there. */
static bool make_folder(struct visit *visit)
{
    const char *const parents[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm"};
    for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++) {
        if (!can_hold_it(parents[i]))
            continue;
        visit->folder = sc_scratch_print(&visit->scratch, "%s/safecopy-doctor-XXXXXX", parents[i]);
        if (mkdtemp(visit->folder))
            return true;
    }
    sc_say("cannot make a folder in TMPDIR, /tmp, /var/tmp or /dev/shm: %s", strerror(errno));
    return false;
}

/* ---- the visit ---- */

/* Collects what there is on the machine (driver, limits, library) and judges it. */
static void look_at_machine(struct visit *visit)
{
    sc_machine_look(&visit->machine, &visit->scratch, visit->folder,
                    visit->program ? visit->program[0] : NULL);
    sc_diagnosis_of_machine(&visit->diagnosis, &visit->machine);
}

/* Looks at the program's files (loader, CUDA, rights), and judges whether the library will reach
 * it. */
static void look_at_program(struct visit *visit)
{
    sc_program_file_look(&visit->files, &visit->scratch, visit->program[0]);
    sc_diagnosis_of_program(&visit->diagnosis, &visit->files);
}

/* Runs the program with the library, to see whether it is reached. */
static void try_program(struct visit *visit)
{
    sc_trial_run(&visit->trial, &visit->scratch, visit->program, visit->machine.library,
                 visit->folder);
    visit->trial.is_off = visit->machine.settings.is_off;
    visit->trial.strict_status = visit->machine.settings.strict_status;
    visit->was_tried = true;
    sc_diagnosis_of_trial(&visit->diagnosis, &visit->trial);
}

/* Can the program be tried with the library? Not if the library is missing or cannot be preloaded,
 * or the program cannot be started. */
static bool can_try(const struct visit *visit)
{
    return visit->machine.library && visit->machine.is_preloadable &&
           sc_diagnosis_is_startable(&visit->files);
}

/* Prints the diagnosis, as JSON or for people. */
static void show(const struct visit *visit)
{
    if (visit->shows_json)
        sc_show_json(stdout, &visit->diagnosis, visit->program ? &visit->files : NULL,
                     visit->was_tried ? &visit->trial : NULL);
    else
        sc_show_text(stdout, &visit->diagnosis);
}

/* Removes the folder that the doctor made for a trial. It must be empty by then: what else is in
 * it is not the doctor's. */
static void remove_folder(const struct visit *visit)
{
    if (rmdir(visit->folder) != 0 && errno != ENOENT)
        sc_say("%s stays: what is there is not the doctor's", visit->folder);
}

/* Looks at the machine, and at the program if there is one, and prints the diagnosis. Returns the
 * exit status. */
static int pay_visit(struct visit *visit)
{
    if (!make_folder(visit))
        return SC_COMMAND_USAGE;
    look_at_machine(visit);
    if (visit->program)
        look_at_program(visit);
    if (visit->program && !visit->only_looks && can_try(visit))
        try_program(visit);
    remove_folder(visit);
    show(visit);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        sc_say("cannot write: %s", strerror(errno));
        return SC_COMMAND_USAGE;
    }
    return visit->diagnosis.problem_count > 0 ? SC_COMMAND_FOUND : 0;
}

/* Runs `safecopy doctor`. It starts itself again with SC_ASK_FLAG to ask the machine what may end
 * or hang a process: then it only answers. */
int sc_command_doctor(int argc, char **argv)
{
    struct visit visit = {.program = NULL};
    if (argc == 3 && strcmp(argv[1], SC_ASK_FLAG) == 0)
        return sc_ask(argv[2]);
    visit.diagnosis.scratch = &visit.scratch;
    int status = take_flags(&visit, argc, argv) ? pay_visit(&visit) : SC_COMMAND_USAGE;
    sc_scratch_free(&visit.scratch);
    return status;
}

#define _GNU_SOURCE 1
#include "report/command/doctor/trial.h"

#include "report/command/doctor/came_up.h"
#include "report/command/input.h"
#include "report/command/preload.h"
#include "report/command/program.h"
#include "report/command/regular_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what the loader is asked to write, and the library ---- */

/* Sets the environment of the program that is tried: the library, and LD_DEBUG, with which glibc's
 * loader writes into loader.PID what it loads. The library says nothing at the end (verbosity=0),
 * since that would name a report that is removed then. */
static bool set_environment(struct sc_scratch *scratch, const char *library, const char *folder)
{
    const char *options = getenv("SAFECOPY_OPTIONS");
    if (!sc_preload_set(scratch, library))
        return false;
    setenv("SAFECOPY_OPTIONS",
           sc_scratch_print(scratch, "%s%sreport_path=%s/report.%%p:verbosity=0",
                            options ? options : "", options && options[0] != '\0' ? ":" : "",
                            folder),
           1);
    setenv("LD_DEBUG", "libs", 1);
    setenv("LD_DEBUG_OUTPUT", sc_scratch_print(scratch, "%s/loader", folder), 1);
    return true;
}

/* ---- what the loader wrote ---- */

/* Is the path's file name this one, or, with is_start, one that begins so? */
static bool names_file(const char *path, const char *file, bool is_start)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    return is_start ? strncmp(base, file, strlen(file)) == 0 : strcmp(base, file) == 0;
}

/* Returns what follows `words` in a line of the loader's, " PID:\tWORDSrest"; NULL: the line says
 * something else. */
static const char *behind(const char *line, const char *words)
{
    const char *found = strstr(line, ":\t");
    return found && strncmp(found + 2, words, strlen(words)) == 0 ? found + 2 + strlen(words)
                                                                  : NULL;
}

/* What has been read of one process. Libraries are initialised before the program is, and a process
 * may become another program. */
struct process {
    struct sc_trial_facts *facts;
    struct sc_scratch *scratch;
    const char *program; /* that it is; NULL: none yet */
    const char *sought;  /* the last library that the loader has looked for */
    bool is_reached;     /* the library is in that */
    bool has_library;    /* was initialised since */
    bool has_driver;
};

/* Notes the process's program as one that has loaded the driver without the library. If a program
 * has replaced another one by exec, the loader's output does not tell which of the two has loaded
 * the driver; so it is only noted if neither had the library. */
static void take_driver(struct process *process)
{
    struct sc_trial_facts *facts = process->facts;
    if (process->has_driver && !process->has_library && !process->is_reached && !facts->passed_by)
        facts->passed_by = process->program;
    process->has_driver = false;
}

/* Takes the loader's line about a program that is about to run: notes whether it had the
 * library. */
static void take_program(struct process *process, const char *program)
{
    struct sc_trial_facts *facts = process->facts;
    if (!process->program)
        process->is_reached = process->has_library;
    process->program = sc_scratch_print(process->scratch, "%s", program);
    take_driver(process);
    process->is_reached = process->has_library;
    process->has_library = false;
    facts->process_count++;
    if (process->is_reached)
        facts->reached_count++;
    else if (!facts->missed)
        facts->missed = process->program;
}

/* Takes one line of what the loader says (LD_DEBUG) while the program is tried. */
static void take_line(struct process *process, const char *line)
{
    const char *library = behind(line, "calling init: ");
    const char *program = behind(line, "initialize program: ");
    const char *sought = behind(line, "find library=");
    if (sought)
        process->sought =
            sc_scratch_print(process->scratch, "%.*s", (int)strcspn(sought, " "), sought);
    if (library && names_file(library, "libsafecopy.so", false))
        process->has_library = true;
    else if (library && names_file(library, "libcuda.so", true))
        process->has_driver = process->facts->loaded_driver = true;
    else if (program)
        take_program(process, program);
}

/* Reads all that the loader has said in one process. */
static void read_loader(struct sc_trial_facts *facts, struct sc_scratch *scratch, FILE *stream)
{
    struct process process = {.facts = facts, .scratch = scratch};
    struct sc_scratch line = {0};
    struct sc_input input;
    bool can_read = sc_input_init(&input, stream);
    while (can_read && sc_input_next(&input) > 0) {
        if (input.length == 0)
            continue;
        take_line(&process, sc_scratch_print(&line, "%.*s", (int)input.length, input.line));
        sc_scratch_reset(&line);
    }
    take_driver(&process);
    if (!process.program && !facts->not_found)
        facts->not_found = process.sought;
    sc_input_free(&input);
    sc_scratch_free(&line);
}

/* ---- what the library wrote ---- */

/* Counts one report that the tried program has written. */
static void take_report(struct sc_trial_facts *facts, struct sc_scratch *scratch, const char *path)
{
    struct sc_came_up_facts report;
    sc_came_up_read(&report, scratch, path);
    if (!report.has_run)
        return;
    facts->report_count++;
    facts->unreached_count += report.is_unreached;
    facts->unended_count += !report.has_summary;
    facts->hazard_count += report.hazard_count;
    if (report.is_unreached && !facts->unreached)
        facts->unreached = report.program;
}

/* ---- the folder ---- */

/* Reads a file that the tried program has left in the folder; it may have put anything there. */
static void take_file(struct sc_trial_facts *facts, struct sc_scratch *scratch, const char *path)
{
    int error;
    bool is_loader = names_file(path, "loader.", true);
    FILE *stream = is_loader ? sc_regular_file_stream(path, O_NOFOLLOW, &error) : NULL;
    if (names_file(path, "report.", true))
        take_report(facts, scratch, path);
    if (!stream)
        return;
    read_loader(facts, scratch, stream);
    fclose(stream);
}

/* Is it a regular file with one of the names that set_environment has given out? */
static bool is_ours(int place, const char *name)
{
    struct stat status;
    return (names_file(name, "loader.", true) || names_file(name, "report.", true)) &&
           fstatat(place, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

/* Opens the folder, unless its name leads elsewhere by now. `made`: the folder that it led to when
 * it was created. */
static DIR *open_folder(const char *folder, const struct stat *made)
{
    struct stat now;
    int place = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *files = place >= 0 && fstat(place, &now) == 0 && now.st_dev == made->st_dev &&
                         now.st_ino == made->st_ino
                     ? fdopendir(place)
                     : NULL;
    if (place >= 0 && !files)
        close(place);
    return files;
}

/* Reads the reports and the loaders' words that lie in the folder, and removes them. What else is
 * there is the program's. */
static void take_folder(struct sc_trial_facts *facts, struct sc_scratch *scratch,
                        const char *folder, const struct stat *made)
{
    DIR *files = open_folder(folder, made);
    struct dirent *entry;
    while (files && (entry = readdir(files))) {
        if (!is_ours(dirfd(files), entry->d_name))
            continue;
        take_file(facts, scratch, sc_scratch_print(scratch, "%s/%s", folder, entry->d_name));
        unlinkat(dirfd(files), entry->d_name, 0);
    }
    if (files)
        closedir(files);
}

/* Runs the program with the library, its loader talking into files, and takes what they and the
 * reports say. */
void sc_trial_run(struct sc_trial_facts *facts, struct sc_scratch *scratch, char **argv,
                  const char *library, const char *folder)
{
    *facts = (struct sc_trial_facts){0};
    struct stat made;
    if (lstat(folder, &made) != 0 || !set_environment(scratch, library, folder)) {
        facts->error = ENOENT;
        return;
    }
    int status = sc_program_run(
        argv, &(struct sc_program_ways){.out = SC_PROGRAM_STDOUT_IS_STDERR, .own = -1});
    if (status < 0)
        facts->error = -status;
    else
        facts->wait_status = status;
    take_folder(facts, scratch, folder, &made);
}

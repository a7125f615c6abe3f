/* Random programs in processes of a few each, several at a time, and how what they report is
 * judged:
 *
 *   PROGRAM [N [SEED [KINDS]]]                    N programs, or those of a kind alone
 *   PROGRAM run N SEED fix|report KINDS [trace]   what it starts, with both variables set
 *
 * A process prints the hazards that its programs must cause, by code, and the report must have just
 * those. Where they differ the first program that is wrong is found by halving and shown.
 *
 * Include once, behind random_words.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_JOBS_H
#define SC_TESTS_FUZZ_RANDOM_JOBS_H

#include "random_codes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STRICT_STATUS = 66,
    PROGRAMS_EACH = 40,
    JOBS_MAX = 64,
    PATH_BYTES = 256,
    TEXT_BYTES = 64 * 1024
};

/* A device whose delays are random has the job's seed, in the place of its "%". */
struct setting {
    const char *mode; /* strict is mode=fix:strict=1 */
    const char *device;
    const char *options; /* further ones, or NULL */
    unsigned kinds;      /* of programs: what the lot knows them by */
};

/* A program that was wrong once, and a setting in which it was. */
struct once_wrong {
    unsigned long long seed;
    unsigned setting;
};

/* `run`: runs so many programs of the kinds from the seed on, in the mode. */
struct lot {
    const struct setting *settings;
    unsigned setting_count;
    unsigned long program_count; /* where the arguments do not say it */
    void (*run)(unsigned long count, uint64_t seed, const char *mode, unsigned kinds);
    const struct once_wrong *once_wrong; /* they are run first */
    unsigned once_wrong_count;
};

static const struct lot *lot;

struct job {
    pid_t pid; /* 0: free */
    unsigned long long seed;
    unsigned long count;
    unsigned setting;
    unsigned number;
};

static char folder[] = "/tmp/random-programs-XXXXXX";
static unsigned jobs_started;
static char output[TEXT_BYTES], report[TEXT_BYTES];

static void path_of(const struct job *job, const char *what, char *path)
{
    snprintf(path, PATH_BYTES, "%s/%u.%s", folder, job->number, what);
}

/* ---- starting and judging such processes ---- */

/* SIM_GPU; the setting has at most one place for a number, the seed. */
static void describe_device(const struct job *job, char *text)
{
    const char *device = lot->settings[job->setting].device;
    size_t plain = strcspn(device, "%");
    snprintf(text, PATH_BYTES, "%.*s", (int)plain, device);
    if (device[plain])
        snprintf(text + plain, PATH_BYTES - plain, "%llu%s", job->seed, device + plain + 1);
}

static const char *options_of(const struct job *job)
{
    const char *options = lot->settings[job->setting].options;
    return options ? options : "device=0";
}

static void set_environment(const struct job *job)
{
    char value[2 * PATH_BYTES], path[PATH_BYTES];
    path_of(job, "jsonl", path);
    bool strict = strcmp(lot->settings[job->setting].mode, "strict") == 0;
    snprintf(value, sizeof value, "mode=%s:%s:stacks=none:verbosity=0:report_path=%s",
             strict ? "fix:strict=1" : lot->settings[job->setting].mode, options_of(job), path);
    setenv("SAFECOPY_OPTIONS", value, 1);
    describe_device(job, value);
    setenv("SIM_GPU", value, 1);
}

static void start(struct job *job, bool traced)
{
    char count[32], seed[32], kinds[32], path[PATH_BYTES];
    char mode[8], run[] = "run", self[] = "/proc/self/exe", full[] = "trace";
    job->number = jobs_started++;
    path_of(job, "out", path);
    snprintf(count, sizeof count, "%lu", job->count);
    snprintf(seed, sizeof seed, "%llu", job->seed);
    snprintf(mode, sizeof mode, "%s", lot->settings[job->setting].mode);
    snprintf(kinds, sizeof kinds, "%u", lot->settings[job->setting].kinds);
    fflush(stdout);
    job->pid = fork();
    if (job->pid != 0)
        return;
    char *arguments[] = {self, run, count, seed, mode, kinds, traced ? full : NULL, NULL};
    int file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    set_environment(job);
    if (file < 0 || dup2(file, 1) < 0 || dup2(file, 2) < 0)
        _exit(3);
    execv(self, arguments);
    _exit(3);
}

/* The last part of it, if it is long. */
static void read_file(const struct job *job, const char *what, char *text)
{
    char path[PATH_BYTES];
    path_of(job, what, path);
    FILE *file = fopen(path, "r");
    text[0] = '\0';
    if (!file)
        return;
    fseek(file, 0, SEEK_END);
    if (ftell(file) >= TEXT_BYTES)
        fseek(file, -(TEXT_BYTES - 1), SEEK_END);
    else
        rewind(file);
    text[fread(text, 1, TEXT_BYTES - 1, file)] = '\0';
    fclose(file);
    unlink(path);
}

static unsigned long number_behind(const char *text, const char *name)
{
    const char *at = text ? strstr(text, name) : NULL;
    return at ? strtoul(at + strlen(name) + (at[strlen(name)] == '"' ? 2 : 1), NULL, 10) : 0;
}

/* What is wrong with an ended process, into `wrong`. True: nothing. */
static bool judge(struct job *job, int status, char *wrong)
{
    job->pid = 0;
    read_file(job, "out", output);
    read_file(job, "jsonl", report);
    const char *expected = strstr(output, "in all: SC101");
    const char *found = strstr(report, "\"by_code\":{");
    if ((status != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == STRICT_STATUS)) ||
        !expected || !found) {
        snprintf(wrong, PATH_BYTES, "status %#x, %s", (unsigned)status,
                 expected && !found ? "no report: is the library preloaded?" : "see above");
        return false;
    }
    unsigned long heard = number_behind(report, "\"heard"); /* not judged, and said so */
    for (int code = 0; code < CODES; code++) {
        unsigned long count = number_behind(found, code_names[code]);
        unsigned long at_least = number_behind(expected, code_names[code]);
        unsigned long at_most = number_behind(strstr(expected, code_names[code]), " to");
        if (count + heard < at_least || count > at_most) {
            snprintf(wrong, PATH_BYTES, "%lu hazards %s reported, not %lu to %lu", count,
                     code_names[code], at_least, at_most);
            return false;
        }
    }
    return true;
}

static bool run_job(struct job *job, bool traced, char *wrong)
{
    int status = 0;
    start(job, traced);
    while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return judge(job, status, wrong);
}

/* ---- finding the program that is wrong ---- */

static void show(const struct job *job, const char *wrong)
{
    char device[PATH_BYTES];
    describe_device(job, device);
    printf("%s\nwrong: %lu programs from seed %llu, of the kinds %u, SAFECOPY_OPTIONS=mode=%s:%s, "
           "SIM_GPU=%s: %s\n",
           output, job->count, job->seed, lot->settings[job->setting].kinds,
           lot->settings[job->setting].mode, options_of(job), device, wrong);
}

/* The first half that is wrong too, again and again; some things go wrong only now and then. */
static void find_culprit(struct job job, char *wrong)
{
    char ignored[PATH_BYTES];
    while (job.count > 1) {
        struct job half = job;
        half.count = job.count / 2;
        if (run_job(&half, false, ignored)) {
            half.seed += half.count;
            half.count = job.count - half.count;
            if (run_job(&half, false, ignored))
                break;
        }
        job = half;
    }
    for (int attempt = 0; attempt < 20; attempt++)
        if (!run_job(&job, job.count == 1, wrong)) {
            show(&job, wrong);
            return;
        }
    printf("%lu programs from seed %llu were wrong, and not again: %s\n", job.count, job.seed,
           wrong);
}

/* ---- all of them ---- */

/* Nothing is healed in mode=report: a copy that lands in the moment between a free and the malloc
 * behind it harms the heap, as it would without the library. Such a job is run again. */
static bool harmed_itself(struct job job, int status, char *wrong)
{
    bool unhealed = strcmp(lot->settings[job.setting].mode, "report") == 0;
    bool right = false;
    for (int attempt = 0; unhealed && WIFSIGNALED(status) && attempt < 3 && !right; attempt++)
        right = run_job(&job, false, wrong);
    return right;
}

/* True while the programs are right. */
static bool reap(struct job *jobs, int job_count)
{
    static char wrong[PATH_BYTES];
    int status = 0;
    pid_t ended = waitpid(-1, &status, 0);
    for (int i = 0; i < job_count; i++)
        if (jobs[i].pid == ended && ended > 0) {
            if (judge(&jobs[i], status, wrong) || harmed_itself(jobs[i], status, wrong))
                return true;
            show(&jobs[i], wrong);
            find_culprit(jobs[i], wrong);
            return false;
        }
    return true;
}

static struct job *free_job(struct job *jobs, int job_count)
{
    for (int i = 0; i < job_count; i++)
        if (jobs[i].pid == 0)
            return &jobs[i];
    return NULL;
}

static bool any_runs(const struct job *jobs, int job_count)
{
    for (int i = 0; i < job_count; i++)
        if (jobs[i].pid != 0)
            return true;
    return false;
}

static void forget(struct job *job)
{
    waitpid(job->pid, NULL, 0);
    read_file(job, "out", output);
    read_file(job, "jsonl", report);
}

static bool is_wanted(unsigned setting, unsigned kinds)
{
    return !kinds || lot->settings[setting % lot->setting_count].kinds & kinds;
}

static bool run_all(unsigned long long seed, unsigned long count, unsigned kinds)
{
    struct job jobs[JOBS_MAX] = {{0}};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int job_count = cores < 1 ? 1 : cores < JOBS_MAX ? (int)cores : JOBS_MAX;
    bool right = true;
    for (unsigned setting = 0; count > 0 && right; setting++) {
        if (!is_wanted(setting, kinds))
            continue;
        struct job *job = free_job(jobs, job_count);
        if (!job) {
            right = reap(jobs, job_count);
            setting--;
            continue;
        }
        job->seed = seed;
        job->count = count < PROGRAMS_EACH ? count : PROGRAMS_EACH;
        job->setting = setting % lot->setting_count;
        seed += job->count;
        count -= job->count;
        start(job, false);
    }
    while (right && any_runs(jobs, job_count))
        right = reap(jobs, job_count);
    for (int i = 0; i < job_count; i++)
        if (jobs[i].pid != 0)
            forget(&jobs[i]);
    return right;
}

static bool run_once_wrong(void)
{
    char wrong[PATH_BYTES];
    for (unsigned i = 0; i < lot->once_wrong_count; i++) {
        struct job job = {
            .seed = lot->once_wrong[i].seed, .count = 1, .setting = lot->once_wrong[i].setting};
        if (!run_job(&job, false, wrong)) {
            show(&job, wrong);
            return false;
        }
    }
    return true;
}

static int run_here(char **arguments)
{
    unsigned long count = strtoul(arguments[0], NULL, 0);
    uint64_t seed = strtoull(arguments[1], NULL, 0);
    unsigned kinds = (unsigned)strtoul(arguments[3], NULL, 0);
    trace = arguments[4] != NULL;
    lot->run(count, seed, arguments[2], kinds);
    printf("in all:");
    for (int code = 0; code < CODES; code++)
        printf(" %s %lu to %lu;", code_names[code], least[code], most[code]);
    putchar('\n');
    return 0;
}

static int run_lot(int argc, char **argv, const struct lot *these)
{
    lot = these;
    if (argc >= 6 && strcmp(argv[1], "run") == 0)
        return run_here(argv + 2);
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : lot->program_count;
    unsigned long long seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    unsigned kinds = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 0) : 0;
    if (!mkdtemp(folder)) {
        perror(folder);
        return 2;
    }
    bool right = run_once_wrong() && run_all(seed, count, kinds);
    rmdir(folder);
    printf("%lu passed, %d failed\n", right ? count : 0, !right);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif

#define _GNU_SOURCE 1
#include "report/command/left_running.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Helpers of a launcher (multiprocessing's, a shell's) end some milliseconds after it. */
enum { LOOKS = 20, BETWEEN_LOOKS_NS = 10 * 1000 * 1000 };

enum { NAMED_MAX = 8, ENVIRONMENT_MAX = 1024 * 1024, NAME_SIZE = 32 };

/* Reads /proc/PID/`file`, with a NUL after it. Returns NULL if it is not there, this process may
 * not read it, or memory runs out. */
static char *read_file(const char *pid, const char *file, size_t most, size_t *size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.16s/%s", pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char *text = fd >= 0 ? malloc(most + 1) : NULL;
    ssize_t part = 1;
    *size = 0;
    while (text && *size < most && (part = read(fd, text + *size, most - *size)) > 0)
        *size += (size_t)part;
    if (fd >= 0)
        close(fd);
    if (text)
        text[*size] = '\0';
    return text;
}

/* A process has no environment between the two programs of an exec, for as long as the kernel takes
 * to read the second, so that one which has memory and no environment may be about to name the
 * roll.
 */
enum naming { NAMES_NOTHING, NAMES_ROLL, HAS_NO_ENVIRONMENT };

/* Does the environment of the process name the run's roll, the file in which processes of the run
 * leave notes? Then the process belongs to the run. HAS_NO_ENVIRONMENT: its environment is empty,
 * so that is not known. */
static enum naming names_roll(const char *pid, const struct sc_run_roll *roll)
{
    static const char variable[] = SC_ROLL_VARIABLE "=";
    size_t size;
    char *environment = read_file(pid, "environ", ENVIRONMENT_MAX, &size);
    enum naming naming = environment && size == 0 ? HAS_NO_ENVIRONMENT : NAMES_NOTHING;
    for (size_t at = 0; at < size && naming != NAMES_ROLL; at += strlen(environment + at) + 1)
        if (strncmp(environment + at, variable, sizeof variable - 1) == 0 &&
            sc_run_roll_is_in(roll, environment + at + sizeof variable - 1))
            naming = NAMES_ROLL;
    free(environment);
    return naming;
}

/* Returns when a process was started, in clock ticks since the system was, or 0 if it has no
 * memory: it is a thread of the Linux kernel or has ended. */
static unsigned long long start_of(const char *pid)
{
    enum { STAT_MAX = 1024 };
    size_t size;
    unsigned long long start = 0, memory = 0;
    char *stat = read_file(pid, "stat", STAT_MAX, &size);
    char *field = stat ? strrchr(stat, ')') : NULL; /* a name may have blanks and brackets */
    for (int number = 2; field && number < 22; number++)
        field = strchr(field + 1, ' ');
    if (field) {
        start = strtoull(field, &field, 10);
        memory = strtoull(field, NULL, 10);
    }
    free(stat);
    return memory ? start : 0;
}

/* Adds a process to the words. */
static void add(struct sc_scratch *scratch, const char *pid, const char **words)
{
    size_t size;
    char *name = read_file(pid, "comm", NAME_SIZE, &size);
    if (name)
        name[strcspn(name, "\n")] = '\0';
    *words = sc_scratch_print(scratch, "%s%s%s (%s)", *words ? *words : "", *words ? ", " : "", pid,
                              name ? name : "?");
    free(name);
}

/* Returns words for the processes whose environment names the run's roll (the file for notes);
 * NULL: there are none. Sets *unsure if another process, which was started after this one, has no
 * environment that can be read yet or any more: it may be one of them. */
static const char *look(struct sc_scratch *scratch, const struct sc_run_roll *roll, bool *unsure)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    const char *words = NULL;
    unsigned count = 0;
    *unsure = false;
    while (folder && (entry = readdir(folder))) {
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid <= 0 || pid == getpid())
            continue;
        enum naming naming = names_roll(entry->d_name, roll);
        if (naming == NAMES_ROLL && count++ < NAMED_MAX)
            add(scratch, entry->d_name, &words);
        if (naming == HAS_NO_ENVIRONMENT && start_of(entry->d_name) >= start_of("self"))
            *unsure = true;
    }
    if (folder)
        closedir(folder);
    return count > NAMED_MAX ? sc_scratch_print(scratch, "%s and %u more", words, count - NAMED_MAX)
                             : words;
}

/* Returns which processes of the run still live, in words, or NULL if none do. Looks several times,
 * as some may be about to end. */
const char *sc_left_running_find(struct sc_scratch *scratch, const struct sc_run_roll *roll)
{
    bool unsure = false;
    const char *words = roll->name[0] != '\0' ? look(scratch, roll, &unsure) : NULL;
    for (unsigned i = 1; (words || unsure) && i < LOOKS; i++) {
        nanosleep(&(struct timespec){.tv_nsec = BETWEEN_LOOKS_NS}, NULL);
        words = look(scratch, roll, &unsure);
    }
    return words;
}

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

/* What /proc/PID/`file` has, up to a NUL. NULL: nobody may read it, or it is empty. */
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
    if (text && *size > 0) {
        text[*size] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

static bool names_roll(const char *pid, const struct sc_run_roll *roll)
{
    static const char variable[] = SC_ROLL_VARIABLE "=";
    size_t size;
    char *environment = read_file(pid, "environ", ENVIRONMENT_MAX, &size);
    bool is_named = false;
    for (size_t at = 0; environment && !is_named && at < size; at += strlen(environment + at) + 1)
        is_named = strncmp(environment + at, variable, sizeof variable - 1) == 0 &&
                   sc_run_roll_is_in(roll, environment + at + sizeof variable - 1);
    free(environment);
    return is_named;
}

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

static const char *look(struct sc_scratch *scratch, const struct sc_run_roll *roll)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    const char *words = NULL;
    unsigned count = 0;
    while (folder && (entry = readdir(folder))) {
        long pid = strtol(entry->d_name, NULL, 10);
        bool is_left = pid > 0 && pid != getpid() && names_roll(entry->d_name, roll);
        if (is_left && count++ < NAMED_MAX)
            add(scratch, entry->d_name, &words);
    }
    if (folder)
        closedir(folder);
    return count > NAMED_MAX ? sc_scratch_print(scratch, "%s and %u more", words, count - NAMED_MAX)
                             : words;
}

const char *sc_left_running_find(struct sc_scratch *scratch, const struct sc_run_roll *roll)
{
    const char *words = roll->name[0] != '\0' ? look(scratch, roll) : NULL;
    for (unsigned i = 1; words && i < LOOKS; i++) {
        nanosleep(&(struct timespec){.tv_nsec = BETWEEN_LOOKS_NS}, NULL);
        words = look(scratch, roll);
    }
    return words;
}

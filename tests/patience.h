/* A sleep for what has to outlast other threads, also where the machine holds those up.
 *
 * A test's host function keeps a stream busy while the program goes on to its mistake. On a loaded
 * machine that thread may be let run late, by a second and more, so a plain sleep can be over
 * before. What counts here is time in which the others had no wish to run, or ran.
 */
#ifndef SC_TESTS_PATIENCE_H
#define SC_TESTS_PATIENCE_H

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The state of a thread of this process, as ps shows it: S is asleep, R running or about to, D
 * waiting for a page. 0 where /proc does not tell, as of one that has ended. */
static inline char thread_state(long thread)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, line, sizeof line - 1);
    if (file >= 0)
        close(file);
    line[size > 0 ? size : 0] = '\0';
    const char *name_end = strrchr(line, ')');
    return name_end && name_end[1] != '\0' ? name_end[2] : '\0';
}

/* How many threads but the caller want to run, or run. 0 where /proc does not tell. */
static inline unsigned other_threads_awake(void)
{
    union {
        struct dirent first;
        char bytes[4096];
    } entries;
    long self = syscall(SYS_gettid);
    int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    unsigned awake = 0;
    long size = 0;
    while (folder >= 0 && (size = syscall(SYS_getdents64, folder, &entries, sizeof entries)) > 0) {
        const struct dirent *entry;
        for (long at = 0; at < size; at += entry->d_reclen) {
            entry = (const struct dirent *)(const void *)(entries.bytes + at);
            long thread = atol(entry->d_name); /* 0: no thread, but . or .. */
            awake += thread != 0 && thread != self && !strchr("SXZ", thread_state(thread));
        }
    }
    if (folder >= 0)
        close(folder);
    return awake;
}

static inline double clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Sleeps until the process's other threads have had so many microseconds. A step in which
 * one of them wanted a core and had none counts for a twentieth, so that the sleep comes to an end
 * on any machine. A thread that spins, as the driver's do in a wait, has its time while it has a
 * core. Allocates nothing; for any thread, and for host functions. */
static inline void sleep_patiently(unsigned us)
{
    enum { STEP_US = 5000 }; /* more than the kernel takes to add up what has run */
    for (unsigned had_us = 0; had_us < us;) {
        double begin_us = clock_us(CLOCK_MONOTONIC);
        double ran_us = -clock_us(CLOCK_PROCESS_CPUTIME_ID);
        usleep(STEP_US);
        ran_us += clock_us(CLOCK_PROCESS_CPUTIME_ID);
        double wanted_us = other_threads_awake() * (clock_us(CLOCK_MONOTONIC) - begin_us);
        had_us += ran_us >= 0.5 * wanted_us ? STEP_US : STEP_US / 20;
    }
}

#endif

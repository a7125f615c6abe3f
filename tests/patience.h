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

enum { OF_THREAD_BYTES = 512 };

/* What a file of /proc says of a thread of this process; "" of one that has ended. */
static inline void read_of_thread(long thread, const char *name, char text[OF_THREAD_BYTES])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/%s", thread, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, OF_THREAD_BYTES - 1);
    if (file >= 0)
        close(file);
    text[size > 0 ? size : 0] = '\0';
}

/* The state of a thread, as ps shows it: S is asleep, R running or about to, D waiting for a page.
 * 0 where /proc does not tell. */
static inline char thread_state(long thread)
{
    char line[OF_THREAD_BYTES];
    read_of_thread(thread, "stat", line);
    const char *name_end = strrchr(line, ')');
    return name_end && name_end[1] != '\0' ? name_end[2] : '\0';
}

/* For how long a thread has had to wait for a core until it ran last, in its life. */
static inline double thread_waited_us(long thread)
{
    char line[OF_THREAD_BYTES];
    read_of_thread(thread, "schedstat", line);
    const char *behind_ran = strchr(line, ' ');
    return behind_ran ? strtod(behind_ran, NULL) / 1e3 : 0;
}

/* All threads but the caller. */
struct other_threads {
    unsigned awake; /* that want to run, or run; 0 where /proc does not tell */
    double waited_us;
};

static inline struct other_threads look_at_other_threads(void)
{
    union {
        struct dirent first;
        char bytes[4096];
    } entries;
    long self = syscall(SYS_gettid);
    int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct other_threads others = {0, 0};
    long size = 0;
    while (folder >= 0 && (size = syscall(SYS_getdents64, folder, &entries, sizeof entries)) > 0) {
        const struct dirent *entry;
        for (long at = 0; at < size; at += entry->d_reclen) {
            entry = (const struct dirent *)(const void *)(entries.bytes + at);
            long thread = atol(entry->d_name); /* 0: no thread, but . or .. */
            if (thread == 0 || thread == self)
                continue;
            others.awake += !strchr("SXZ", thread_state(thread));
            others.waited_us += thread_waited_us(thread);
        }
    }
    if (folder >= 0)
        close(folder);
    return others;
}

static inline double clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Sleeps until the process's other threads have had so many microseconds in which none of them was
 * held up: none waited for a core, nor waits for one now. Other time counts for a sixtieth, so that
 * the sleep ends on any machine; for what busy() holds that is before the library's stall_limit is
 * near. A thread that spins, as the driver's do in a wait, has its time while it has a core. A step
 * counts for no more than twice its length, however late this thread itself is let run: so it takes
 * many steps, and who looks on sees that it goes on. Allocates nothing; for any thread, and for
 * host functions. */
static inline void sleep_patiently(unsigned us)
{
    const double slowest = 60, most_us = 20000;
    enum { STEP_US = 10000 }; /* more than the kernel takes to add up */
    struct other_threads before = look_at_other_threads();
    for (double had_us = 0; had_us < us;) {
        double took_us = -clock_us(CLOCK_MONOTONIC);
        double ran_us = -clock_us(CLOCK_PROCESS_CPUTIME_ID);
        usleep(STEP_US);
        struct other_threads now = look_at_other_threads();
        took_us += clock_us(CLOCK_MONOTONIC);
        ran_us += clock_us(CLOCK_PROCESS_CPUTIME_ID);
        double waited_us = now.waited_us - before.waited_us; /* less than 0: one has ended */
        double free_us = took_us - (waited_us > 0 ? waited_us : 0);
        bool is_free = ran_us >= 0.5 * now.awake * took_us && free_us > took_us / slowest;
        double counts_us = is_free ? free_us : took_us / slowest;
        had_us += counts_us < most_us ? counts_us : most_us;
        before = now;
    }
}

#endif

#define _GNU_SOURCE 1
#include "report/command/progress.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { EVERY = 256, FIRST_MS = 2000, NEXT_MS = 200 };

static bool shown;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Shows progress on stderr, if that is a terminal: after a first delay, and then from time to
 * time. */
void sc_progress_show(const char *what, size_t count)
{
    static int64_t due_ms;
    if (count % EVERY != 0 || !isatty(STDERR_FILENO))
        return;
    int64_t now = now_ms();
    if (due_ms == 0)
        due_ms = now + FIRST_MS;
    if (now < due_ms)
        return;
    due_ms = now + NEXT_MS;
    shown = true;
    fprintf(stderr, "\r\033[Ksafecopy: %s %zu", what, count);
}

/* Removes the line of progress from the terminal, before other output. */
void sc_progress_hide(void)
{
    if (shown)
        fputs("\r\033[K", stderr);
    shown = false;
}

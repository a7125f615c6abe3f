/*
 * Time, memory and the statistics of a benchmark: a batch is one timed loop, a repeat is the best
 * of several batches (what disturbs a loop only ever adds to it), and a figure is the median of the
 * repeats. Figures are printed as `NAME VALUE UNIT`, remarks as lines that open with '#'.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPEATS_MOST = 9, CALL_DEPTH = 8 };

/* One timed loop, its value in the figure's unit. */
typedef double batch_function(void *arg);

static inline uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static inline void sleep_ns(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000U), (long)(ns % 1000000000U)};

    nanosleep(&t, NULL);
}

/* What VmRSS says, or 0 where /proc is missing; counted page by page, while VmRSS lags behind by
 * some MB on machines with many processors. */
static inline size_t rss_bytes(void)
{
    char line[128];
    unsigned long rss_kb = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "re");

    if (!file)
        return 0;
    while (fgets(line, sizeof line, file) && sscanf(line, "Rss: %lu kB", &rss_kb) != 1)
        ;
    fclose(file);
    return (size_t)rss_kb << 10;
}

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the values. */
static inline double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Runs the batch under `depth` more frames, as deep as a real program's copies: a stack is part of
 * what a copy costs under the library. */
__attribute__((noinline)) static double at_depth(unsigned depth, batch_function *batch, void *arg)
{
    double value = depth == 0 ? batch(arg) : at_depth(depth - 1, batch, arg);

    __asm__ volatile("" : "+m"(value)); /* no tail call: the frame must stay */
    return value;
}

static inline void print_figure(const char *name, double value, const char *unit)
{
    printf("%s %.2f %s\n", name, value, unit);
    fflush(stdout);
}

struct effort {
    unsigned repeats; /* at most REPEATS_MOST */
    unsigned batches; /* for each repeat */
};

/* Two batches to warm up, then the figure. */
static inline void measure(const char *name, const char *unit, struct effort effort,
                           batch_function *batch, void *arg)
{
    double repeats[REPEATS_MOST];

    for (unsigned i = 0; i < (effort.batches > 1 ? 2 : 1); i++)
        at_depth(CALL_DEPTH, batch, arg);
    for (unsigned r = 0; r < effort.repeats; r++) {
        for (unsigned b = 0; b < effort.batches; b++) {
            double value = at_depth(CALL_DEPTH, batch, arg);
            if (b == 0 || value < repeats[r])
                repeats[r] = value;
        }
    }
    print_figure(name, median(repeats, effort.repeats), unit);
}

#endif

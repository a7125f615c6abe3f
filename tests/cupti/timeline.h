/* What the programs of the timeline share: a copy between two host functions, which know when the
 * device was there, and the line that the report has of it. */
#ifndef TIMELINE_H
#define TIMELINE_H

#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profiler.h"

#include "tests/patience.h"

/* How far apart the clocks of the device and the host may be believed to be. */
enum { SLACK_NS = 1000 * 1000, HOLD_US = 20 * 1000, BLOCK = 64 * 1024 };

static inline int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Host functions before and behind the copy. */
static int64_t held_until_ns, passed_ns;

static inline void CUDART_CB note_begin(void *unused)
{
    (void)unused;
    sleep_patiently(HOLD_US);
    held_until_ns = now_ns();
}

static inline void CUDART_CB note_end(void *unused)
{
    (void)unused;
    passed_ns = now_ns();
}

/* On pages of its own. */
static inline void *registered(size_t size)
{
    void *block = aligned_alloc(4096, size);
    CHECK(block);
    memset(block, 1, size);
    CUDA(cudaHostRegister(block, size, cudaHostRegisterDefault));
    return block;
}

struct timing {
    int64_t event_ns, start_ns, end_ns, remaining_ns;
};

static inline int64_t number_of(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    CHECK(at);
    return strtoll(at + strlen(key), NULL, 10);
}

/* Where the report is: the last of its paths in the options. */
static inline FILE *open_report(void)
{
    char path[4096] = "";
    const char *at = getenv("SAFECOPY_OPTIONS");
    while (at && (at = strstr(at, "report_path=")) != NULL) {
        at += strlen("report_path=");
        snprintf(path, sizeof path, "%.*s", (int)strcspn(at, ":"), at);
    }
    FILE *report = fopen(path, "r");
    CHECK(report);
    return report;
}

/* Waits until the report has the number-th `timing` line, from 1 on. */
static inline struct timing wait_for_timing(unsigned number)
{
    static char line[1 << 18];
    for (int i = 0; i < 3000; i++, usleep(10000)) {
        unsigned seen = 0;
        FILE *report = open_report();
        while (fgets(line, sizeof line, report)) {
            if (strstr(line, "\"type\":\"timing\"") && strchr(line, '\n') && ++seen == number) {
                fclose(report);
                return (struct timing){
                    number_of(line, "\"event_time_ns\":"), number_of(line, "\"device_start_ns\":"),
                    number_of(line, "\"device_end_ns\":"), number_of(line, "\"remaining_ns\":")};
            }
        }
        fclose(report);
    }
    CHECK(!"the report has the timing line");
    return (struct timing){0};
}

/* The copy ran between the two host functions. */
static inline void check_between(const struct timing *timing)
{
    CHECK(timing->start_ns >= held_until_ns - SLACK_NS);
    CHECK(timing->end_ns >= timing->start_ns);
    CHECK(timing->end_ns <= passed_ns + SLACK_NS);
    CHECK(timing->remaining_ns == timing->end_ns - timing->event_ns);
}

#endif

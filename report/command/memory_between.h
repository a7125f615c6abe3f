/* Reads the value of --between: two `memory` lines of a run, named by their numbers, from 1, or by
 * the time since the first line. */
#ifndef SC_REPORT_COMMAND_MEMORY_BETWEEN_H
#define SC_REPORT_COMMAND_MEMORY_BETWEEN_H

#include <stdbool.h>
#include <stdint.h>

struct sc_memory_end {
    bool is_time;
    uint64_t value; /* a number, or nanoseconds; 0: the last line */
};

/* All zero: none are named. */
struct sc_memory_between {
    struct sc_memory_end from, to;
};

static inline bool sc_memory_between_is_given(const struct sc_memory_between *between)
{
    return between->from.value > 0;
}

/* Reads "3,7", "90s,10m" or "3". False: it is none of these, or the second is not behind the
 * first. */
bool sc_memory_between_read(struct sc_memory_between *between, const char *text);

/* Is the line, or a later one, the end that is meant? */
bool sc_memory_between_reaches(const struct sc_memory_end *end, uint64_t number, uint64_t since_ns);

#endif

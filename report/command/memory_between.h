/* Reads the value of --between: two `memory` lines of a run, named by their numbers, from 1, or by
 * the time since the first line. */
#ifndef SC_REPORT_COMMAND_MEMORY_BETWEEN_H
#define SC_REPORT_COMMAND_MEMORY_BETWEEN_H

#include <stdbool.h>
#include <stdint.h>

struct sc_memory_end {
    bool is_time;
    uint64_t value; /* number of a line, or nanoseconds; 0: the last line */
};

/* All zero: no lines are named. */
struct sc_memory_between {
    struct sc_memory_end from, to;
};

/* Was --between given? */
static inline bool sc_memory_between_is_given(const struct sc_memory_between *between)
{
    return between->from.value > 0;
}

/* Reads "3,7", "90s,10m" or "3". Returns false if the text is none of these, or the second end does
 * not come after the first. */
bool sc_memory_between_read(struct sc_memory_between *between, const char *text);

/* Returns true if the line with this number and time is the named one, or comes after it. */
bool sc_memory_between_reaches(const struct sc_memory_end *end, uint64_t number, uint64_t since_ns);

#endif

/* What the lines of one followed report have said so far. Memory grows with the different hazards.
 */
#ifndef SC_REPORT_COMMAND_WATCH_WATCHED_H
#define SC_REPORT_COMMAND_WATCH_WATCHED_H

#include "report/command/table.h"
#include "report/command/watch/watch_makers.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_shown;

struct sc_watch_tally {
    char code[8];
    /* those of earlier programs in the process (before an exec), and those of the present one */
    json_int_t before, count;
};

struct sc_watched {
    json_t *run; /* the run line without its large members; NULL: none yet */
    const struct sc_builds *builds;
    char *program, *program_build; /* the path and build id of the first module */
    struct sc_watch_tally *tallies;
    size_t tally_count;
    struct sc_table counted; /* the hazards of the present program */
    struct sc_watch_counted *first;
    char *newest; /* the title of the latest hazard, escaped for a terminal; NULL: none */
    uint64_t device_bytes, host_bytes;
    bool knows_memory;
    json_int_t operations, exit_status;
    bool has_ended, has_status, has_lost;
    size_t bad_lines;
};

void sc_watched_free(struct sc_watched *watched);

enum sc_watch_news {
    SC_WATCH_NOTHING,
    SC_WATCH_RUN,
    SC_WATCH_HAZARD,
    SC_WATCH_MEMORY,
    SC_WATCH_OOM,
    SC_WATCH_POSTMORTEM,
    SC_WATCH_SUMMARY,
    SC_WATCH_BAD
};

/* Takes the next line; NULL: a line that was too long. *record: the parsed line, which the caller
 * decrefs; NULL: it could not be read. Returns what the line is. */
enum sc_watch_news sc_watched_take(struct sc_watched *watched, struct sc_watch_makers *makers,
                                   const char *line, size_t size, json_t **record);

/* Returns the hazard of a line, ready to be shown; valid until sc_watch_makers_forget. */
const struct sc_shown *sc_watched_show(const struct sc_watched *watched,
                                       struct sc_watch_makers *makers, json_t *record);

/* Returns the first words about a lost context, from a post-mortem; valid until
 * sc_watch_makers_forget. */
const char *sc_watched_loss(const struct sc_watched *watched, struct sc_watch_makers *makers,
                            const json_t *record);

/* Returns the count of a hazard code, with what earlier programs of the process (before an exec)
 * had; at most INT64_MAX. */
static inline json_int_t sc_watched_sum(const struct sc_watch_tally *tally)
{
    json_int_t all;
    return __builtin_add_overflow(tally->before, tally->count, &all) ? INT64_MAX : all;
}

/* Returns the number of hazards of all codes. */
json_int_t sc_watched_hazards(const struct sc_watched *watched);

/* Returns words such as "rank 3 train (pid 7 on node)". */
const char *sc_watched_name(const struct sc_watched *watched, struct sc_scratch *scratch);

/* Returns words such as "SC101 3, SC201 1"; "" without hazards. */
const char *sc_watched_codes(const struct sc_watched *watched, struct sc_scratch *scratch);

#endif

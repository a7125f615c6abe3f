/* The command's side of a run's roll (report/roll.h), into which the processes of the run write
 * notes. */
#ifndef SC_REPORT_COMMAND_RUN_ROLL_H
#define SC_REPORT_COMMAND_RUN_ROLL_H

#include "report/roll.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One note of a process. `path`: NULL except in notes of a report and SC_ROLL_OFF. */
struct sc_run_note {
    int32_t pid;
    uint64_t started;
    enum sc_roll_note what;
    const char *path;
};

struct sc_run_roll {
    int file;                   /* -1: none can be had, and nobody notes anything */
    char name[128];             /* of the roll in SAFECOPY_RUN; "" if there is none */
    char *notes;                /* each ends with a NUL */
    size_t size;                /* of `notes` */
    unsigned said;              /* bit i: a process has noted sc_roll_note i */
    size_t report_count;        /* notes of a report */
    struct sc_run_note *living; /* notes of a report whose process still ran when they were read */
    size_t living_count;
    bool is_unread; /* what was noted could not be read, or not all of it */
    bool lacks;     /* a process had something to note and could not */
};

/* Makes a roll and names it in the environment, before the rolls of a run that this one is part of.
 * `is_shown`: the command shows the reports on stderr, so the processes print no summary. */
void sc_run_roll_begin(struct sc_run_roll *roll, bool is_shown);

/* Reads what was noted. To be called once. */
void sc_run_roll_read(struct sc_run_roll *roll);

/* Reads the note at *at, first 0, and moves *at behind it. False: there are no more. */
bool sc_run_roll_next(const struct sc_run_roll *roll, size_t *at, struct sc_run_note *note);

/* Did the process note its report, and still run when the roll was read? */
bool sc_run_roll_has_living(const struct sc_run_roll *roll, int64_t pid, int64_t started);

/* Does `value`, of SAFECOPY_RUN, name this roll? */
bool sc_run_roll_is_in(const struct sc_run_roll *roll, const char *value);

static inline bool sc_run_roll_says(const struct sc_run_roll *roll, enum sc_roll_note note)
{
    return (roll->said & 1U << note) != 0;
}

void sc_run_roll_free(struct sc_run_roll *roll);

#endif

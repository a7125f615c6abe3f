/* The roll of a run, on the side of the command: the memory file into which the processes of the
 * run write notes (report/roll.h). */
#ifndef SC_REPORT_COMMAND_RUN_ROLL_H
#define SC_REPORT_COMMAND_RUN_ROLL_H

#include "report/roll.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A note of one process. `path`: NULL except in notes of a report and SC_ROLL_OFF. */
struct sc_run_note {
    int32_t pid;
    uint64_t started;
    enum sc_roll_note what;
    const char *path;
};

struct sc_run_roll {
    int file;            /* -1: there is no roll, so no process writes notes */
    char name[128];      /* the name of the roll in SAFECOPY_RUN; "" if there is none */
    char *notes;         /* the notes, each ending with a NUL */
    size_t size;         /* of `notes` */
    unsigned said;       /* bit i: a process has written note i of enum sc_roll_note */
    size_t report_count; /* notes of a report */
    /* notes of reports whose process still ran when the roll was read */
    struct sc_run_note *living;
    size_t living_count;
    bool is_unread; /* the notes could not be read, or not all of them */
    bool lacks;     /* a process could not write its note */
};

/* Makes a roll and names it in the environment, before the rolls of an outer run. `is_shown`: the
 * command shows the reports on stderr, so the processes print no summary of their own. */
void sc_run_roll_begin(struct sc_run_roll *roll, bool is_shown);

/* Reads the notes. To be called once. */
void sc_run_roll_read(struct sc_run_roll *roll);

/* Decodes the note at *at, which is 0 at first, and moves *at past it. Returns false if there are
 * no more. */
bool sc_run_roll_next(const struct sc_run_roll *roll, size_t *at, struct sc_run_note *note);

/* Returns true if the process has noted its report, and still ran when the roll was read. */
bool sc_run_roll_has_living(const struct sc_run_roll *roll, int64_t pid, int64_t started);

/* Returns true if `value`, a value of SAFECOPY_RUN, names this roll. */
bool sc_run_roll_is_in(const struct sc_run_roll *roll, const char *value);

/* Did any process of the run leave this note? */
static inline bool sc_run_roll_says(const struct sc_run_roll *roll, enum sc_roll_note note)
{
    return (roll->said & 1U << note) != 0;
}

void sc_run_roll_free(struct sc_run_roll *roll);

#endif

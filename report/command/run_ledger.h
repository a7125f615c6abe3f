/* The ledger of a run (report/ledger.h) as its command keeps it. */
#ifndef SC_REPORT_COMMAND_RUN_LEDGER_H
#define SC_REPORT_COMMAND_RUN_LEDGER_H

#include "report/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a process has noted. `path` is NULL but of a report and of SC_LEDGER_OFF. */
struct sc_run_note {
    int32_t pid;
    uint64_t started;
    enum sc_ledger_note what;
    const char *path;
};

struct sc_run_ledger {
    int file;                   /* -1: none can be had, and nobody notes anything */
    char name[128];             /* of the ledger in SAFECOPY_RUN; "" if there is none */
    char *notes;                /* each ends with a NUL */
    size_t size;                /* of `notes` */
    unsigned said;              /* bit i: a process has noted sc_ledger_note i */
    size_t report_count;        /* notes of a report */
    struct sc_run_note *living; /* notes of a report whose process still ran when they were read */
    size_t living_count;
    bool is_unread; /* what was noted could not be read, or not all of it */
    bool lacks;     /* a process had something to note and could not */
};

/* Makes a ledger and names it in the environment, before those of the run that this one is part of.
 * `is_shown`: the reports are shown on stderr, so that the processes print no summary. */
void sc_run_ledger_begin(struct sc_run_ledger *ledger, bool is_shown);

/* Reads what was noted. To be called once. */
void sc_run_ledger_read(struct sc_run_ledger *ledger);

/* The next note, false after the last one. *at is where to go on, first 0. */
bool sc_run_ledger_next(const struct sc_run_ledger *ledger, size_t *at, struct sc_run_note *note);

/* Did the process note its report, and still run when the ledger was read? */
bool sc_run_ledger_has_living(const struct sc_run_ledger *ledger, int64_t pid, int64_t started);

/* Does `value`, of SAFECOPY_RUN, name this ledger? */
bool sc_run_ledger_is_in(const struct sc_run_ledger *ledger, const char *value);

static inline bool sc_run_ledger_says(const struct sc_run_ledger *ledger, enum sc_ledger_note note)
{
    return (ledger->said & 1U << note) != 0;
}

void sc_run_ledger_free(struct sc_run_ledger *ledger);

#endif

/* The summary that a person reads on stderr when the program ends: what happened, where, what the
 * library did about it, and where the whole report is.
 */
#ifndef SC_REPORT_SUMMARY_H
#define SC_REPORT_SUMMARY_H

#include "report/hazard_counts.h"
#include "report/postmortem_line.h"
#include "report/report.h"

struct sc_text;

enum { SC_SUMMARY_PLACES = 5 };

struct sc_summary {
    struct sc_report_counts counts;
    struct sc_hazard_counts places[SC_SUMMARY_PLACES]; /* the places that matter most */
    unsigned place_count;
    unsigned distinct; /* the number of all places, shown or not */
    uint64_t operations;
    uint64_t taken_early;
    uint64_t driver_late;
    uint64_t shared_memory;
    const struct sc_no_verdicts *no_verdicts; /* NULL: not known */
    struct sc_report_guard guard;
    bool tells_guard;       /* the user asked for a mechanism */
    uint64_t calls, missed; /* that CUPTI told of; of these, that no wrapper carried */
    struct sc_report_cupti cupti;
    struct sc_report_timeline timeline;
    bool wants_cupti;        /* the user asked for CUPTI; else its absence is not worth a line */
    const char *path;        /* of the report, "" if there is none */
    bool lists_suppressions; /* names suppressions that have expired or left nothing out */
    bool strict;
    int exitcode;       /* the exit status of a failure by strict */
    bool strict_counts; /* there are hazards of the certainty that strict counts */
    int exit_status;    /* with which the process ends, -1 if unknown */
    struct sc_postmortem_brief postmortem;
};

/* Appends what the summary says of one hazard. Locks: takes the loader's lock. */
void sc_summary_write_hazard(struct sc_text *text, const struct sc_hazard_counts *seen);

/* Is there a suppression that has expired and left nothing out? */
bool sc_summary_has_expired(void);

/* Is there a suppression that has not expired, and left nothing out? */
bool sc_summary_has_unused(void);

/* Appends the summary. Locks: takes the loader's lock. */
void sc_summary_write(struct sc_text *text, const struct sc_summary *summary);

#endif

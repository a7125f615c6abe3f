/* Writes the summary that a person reads on stderr when the program ends: what happened, where,
 * what the library did about it, and where the report is. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   wrapper: our function in the place of one of the driver's
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
    struct sc_hazard_counts places[SC_SUMMARY_PLACES]; /* the most important places */
    unsigned place_count;
    unsigned distinct; /* how many places there are, shown or not */
    uint64_t operations;
    uint64_t taken_early;
    uint64_t driver_late;
    uint64_t shared_memory;
    const struct sc_no_verdicts *no_verdicts; /* NULL: not known */
    struct sc_report_guard guard;
    bool tells_guard; /* the user has chosen a mechanism */
    /* calls that CUPTI has reported; of these, calls that came through no wrapper */
    uint64_t calls, missed;
    struct sc_report_cupti cupti;
    struct sc_report_timeline timeline;
    bool wants_cupti;        /* the user has asked for CUPTI; else its absence is not mentioned */
    const char *path;        /* of the report, "" if there is none */
    bool lists_suppressions; /* list suppressions that have expired or have left nothing out */
    bool strict;
    int exitcode;       /* the exit status if strict fails the process */
    bool strict_counts; /* there are hazards of the certainty that strict counts */
    int exit_status;    /* the exit status of the process, -1 if not known */
    struct sc_postmortem_brief postmortem;
};

/* Appends what the summary says about one hazard. Locks: takes the loader's lock. */
void sc_summary_write_hazard(struct sc_text *text, const struct sc_hazard_counts *seen);

/* Returns true if a suppression has expired and has left nothing out. */
bool sc_summary_has_expired(void);

/* Returns true if a suppression has not expired and has left nothing out. */
bool sc_summary_has_unused(void);

/* Appends the summary. Locks: takes the loader's lock. */
void sc_summary_write(struct sc_text *text, const struct sc_summary *summary);

#endif

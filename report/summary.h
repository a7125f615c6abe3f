/* The summary that a person reads on stderr when the program ends: what happened, where, what was
 * done about it, and where the whole report is.
 */
#ifndef SC_REPORT_SUMMARY_H
#define SC_REPORT_SUMMARY_H

#include "report/hazard_counts.h"
#include "report/report.h"
#include "track/text.h"

enum { SC_SUMMARY_PLACES = 5 };

struct sc_summary {
    struct sc_report_counts counts;
    struct sc_hazard_counts places[SC_SUMMARY_PLACES]; /* those that matter most */
    unsigned place_count;
    unsigned distinct; /* of how many */
    uint64_t operations;
    uint64_t taken_early;
    const struct sc_unguarded *unguarded; /* NULL: nothing is known of it */
    uint64_t calls, missed;               /* that CUPTI told of, and that passed the library by */
    struct sc_report_cupti cupti;
    struct sc_report_timeline timeline;
    bool wants_cupti; /* somebody asked for it, and not only we thought it worth its cost */
    const char *path; /* of the report, "" if there is none */
    bool strict;
    int exitcode;       /* that strict would use */
    bool strict_counts; /* there are hazards of the certainty that strict counts */
    int exit_status;    /* that the process ends with, -1 if unknown */
};

/* Takes the loader's lock. */
void sc_summary_write(struct sc_text *text, const struct sc_summary *summary);

#endif

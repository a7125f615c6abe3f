/* Writes the summary that a person reads on stderr when the program ends: what happened, where,
 * what the library did about it, and where the report is. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 */

#ifndef SC_REPORT_SUMMARY_H
#define SC_REPORT_SUMMARY_H

#include "report/hazard_counts.h"
#include "report/options.h"
#include "report/postmortem_line.h"
#include "report/report.h"

struct sc_text;

enum { SC_SUMMARY_PLACES = 5 };

struct sc_summary {
    const struct sc_options *options;
    const struct sc_report_totals *totals; /* with `no_verdicts` */
    struct sc_report_counts counts;
    struct sc_hazard_counts places[SC_SUMMARY_PLACES]; /* the most important places */
    unsigned place_count;
    unsigned distinct;  /* how many places there are, shown or not */
    const char *path;   /* of the report, "" if there is none */
    bool strict_counts; /* there are hazards of the certainty that strict counts */
    struct sc_postmortem_brief postmortem;
};

/* Appends what the summary says about one hazard. Locks: takes the loader's lock. */
void sc_summary_write_hazard(struct sc_text *text, const struct sc_hazard_counts *seen);

/* Returns true if a suppression has left nothing out: one whose date has passed (`expired`), so
 * that it can be removed or renewed, or else one whose date has not. */
bool sc_summary_has_idle(bool expired);

/* Appends the summary. Locks: takes the loader's lock. */
void sc_summary_write(struct sc_text *text, const struct sc_summary *summary);

#endif

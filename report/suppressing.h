/* Applies the user's suppressions in the process: reads the file that the option `suppressions`
 * names, finds the entry that covers a hazard, and counts how many hazards each entry has left out.
 *
 * Locks: sc_suppressing_load runs before all other functions; the report's lock guards the rest.
 * Only sc_suppressing_load allocates, by mapping pages. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 */

#ifndef SC_REPORT_SUPPRESSING_H
#define SC_REPORT_SUPPRESSING_H

#include "report/options.h"

struct sc_hazard;
struct sc_json_lines_stacks;
struct sc_suppression;

/* Reads the file that the option `suppressions` names. Calls `complain` with a line for each
 * mistake, which names the file. Returns false if anything is wrong; the well-formed entries are
 * applied all the same. */
bool sc_suppressing_load(const struct sc_options *options, sc_options_complain *complain,
                         void *context);

/* Returns true if there are entries that hazards have to be compared with. Needs no lock. */
bool sc_suppressing_is_on(void);

/* Looks up the remembered answer for a hazard with the same code and stacks that was asked about
 * lately. Returns true if there is one, and stores in *entry the entry that covers the hazard, or
 * NULL if none does. Returns false if nothing is remembered. */
bool sc_suppressing_recall(const struct sc_hazard *hazard, struct sc_suppression **entry);

/* Returns the first entry that covers the hazard, or NULL, and remembers the answer. Reads symbol
 * tables of modules if the loader does not know a function. */
struct sc_suppression *sc_suppressing_find(const struct sc_hazard *hazard,
                                           const struct sc_json_lines_stacks *stacks);

/* Returns the user's entry with this index, with how many hazards it has left out; NULL past the
 * last. */
const struct sc_suppression *sc_suppressing_entry(unsigned index);

/* Sets, in a forked child, the counts of all entries to 0. */
void sc_suppressing_forget(void);

#endif

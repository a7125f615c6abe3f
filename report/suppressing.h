/* Applies the user's suppressions in the process: reads the file that the option `suppressions`
 * names, finds the entry that leaves out a hazard, and counts how many hazards each entry has left
 * out.
 *
 * Locks: sc_suppressing_load runs before anything else here; the report's lock guards the rest.
 * Only sc_suppressing_load allocates, which maps pages. */
#ifndef SC_REPORT_SUPPRESSING_H
#define SC_REPORT_SUPPRESSING_H

#include "report/options.h"

struct sc_hazard;
struct sc_json_lines_stacks;
struct sc_suppression;

/* Reads the file. `complain` is told what is wrong, in lines that name the file. Returns false if
 * anything is wrong; the well-formed entries are in force all the same. */
bool sc_suppressing_load(const struct sc_options *options, sc_options_complain *complain,
                         void *context);

/* Are there entries? No lock is needed. */
bool sc_suppressing_is_on(void);

/* Looks for a remembered answer, from a hazard with the same code and stacks that was asked of
 * lately. True: *entry is the entry that leaves out the hazard, or NULL if none does. False: no
 * answer is remembered. */
bool sc_suppressing_recall(const struct sc_hazard *hazard, struct sc_suppression **entry);

/* The first entry that leaves out the hazard, or NULL; the answer is remembered. Reads symbol
 * tables of modules where the loader does not know a function. */
struct sc_suppression *sc_suppressing_find(const struct sc_hazard *hazard,
                                           const struct sc_json_lines_stacks *stacks);

/* The entries, by index; NULL past the last. */
const struct sc_suppression *sc_suppressing_entry(unsigned index);

/* In a forked child: no entry has left anything out. */
void sc_suppressing_forget(void);

#endif

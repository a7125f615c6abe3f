/* Suppressions at work in the process: the file that the option names, which of its entries leave
 * out the hazard at hand, and how often each has.
 *
 * Locks: sc_suppressing_load runs before anything else here; the report's lock guards the rest.
 * Nothing allocates but sc_suppressing_load, which maps pages.
 */
#ifndef SC_REPORT_SUPPRESSING_H
#define SC_REPORT_SUPPRESSING_H

#include "report/options.h"

struct sc_hazard;
struct sc_json_lines_stacks;
struct sc_suppression;

/* Reads the file. `complain` is told what is wrong, in lines that name the file. Returns false if
 * anything is; the entries that are well formed are in force all the same. */
bool sc_suppressing_load(const struct sc_options *options, sc_options_complain *complain,
                         void *context);

/* Are there entries? No lock is needed. */
bool sc_suppressing_is_on(void);

/* True: it is known which entry leaves out the hazard, *entry, NULL if none does. The answer is
 * known for hazards with the same code and stacks as one that was asked of lately. */
bool sc_suppressing_recall(const struct sc_hazard *hazard, struct sc_suppression **entry);

/* The first entry that leaves out the hazard, or NULL. Reads symbol tables of modules, where the
 * loader does not know a function. */
struct sc_suppression *sc_suppressing_find(const struct sc_hazard *hazard,
                                           const struct sc_json_lines_stacks *stacks);

/* The entries, by index; NULL past the last. */
const struct sc_suppression *sc_suppressing_entry(unsigned index);

/* In a forked child: nothing has been left out. */
void sc_suppressing_forget(void);

#endif

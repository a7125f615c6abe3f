/* A baseline: the hazards of earlier runs, identified by their fingerprints. The hazards of a
 * report are compared with it: they are new or unchanged, and hazards of the baseline that are not
 * in the report are fixed. */
#ifndef SC_REPORT_COMMAND_BASELINE_H
#define SC_REPORT_COMMAND_BASELINE_H

#include "report/command/memory_sites.h"
#include "report/command/model.h"
#include "report/command/namings.h"

#include <stdbool.h>
#include <stddef.h>

struct sc_baseline;

struct sc_baseline *sc_baseline_new(void);
void sc_baseline_free(struct sc_baseline *baseline);

/* Adds the hazards in the file at `path`: a report, or the output of `--format json`. Returns false
 * if the file cannot be used, after writing the reason to stderr. */
bool sc_baseline_add(struct sc_baseline *baseline, const char *path,
                     const struct sc_frame_makers *makers);

/* Returns the baseline's hazard with this fingerprint, and notes that it is not fixed; NULL: the
 * baseline does not have it. */
struct sc_baseline_hazard *sc_baseline_find(struct sc_baseline *baseline, const char *fingerprint);

/* Notes a place (a line of source) in the compared reports at which the hazard occurs. `has_lines`:
 * all of the user's frames have source lines (fingerprint.h). */
void sc_baseline_note_place(struct sc_baseline_hazard *hazard, bool has_lines);

/* Returns true if hazards of the baseline's runs may be missing, because a run did not end or lines
 * are lost. Then no hazard is known to be new. */
bool sc_baseline_is_partial(const struct sc_baseline *baseline);

/* Returns the sites in the code that allocated memory in the baseline's runs, as SC_MEMORY_BEFORE;
 * the caller may add the other side. */
struct sc_memory_sites *sc_baseline_memory(struct sc_baseline *baseline);

/* Returns whether functions in the baseline's hazards are known by names or by offsets (namings.h).
 */
const struct sc_namings *sc_baseline_namings(const struct sc_baseline *baseline);

/* Calls `take` with the title of each hazard that is at more places in the compared reports than in
 * the baseline. Leaves out a hazard if that is not known: if it has no source lines, so that places
 * are offsets, several of which may be one line; or if several files of `--format json` have the
 * same place, which counts in each. */
void sc_baseline_each_grown(const struct sc_baseline *baseline,
                            void take(void *whom, const char *title, size_t now, size_t before),
                            void *whom);

/* Returns words for one hazard that is at more places than in the baseline: "at 2 places here and 1
 * in the baseline, so one may be new". NULL: it is not, or that is not known. */
const char *sc_baseline_grown_words(const struct sc_baseline_hazard *hazard,
                                    struct sc_scratch *scratch);

/* Calls `take` with the title of each hazard of the baseline that is fixed: that sc_baseline_find
 * was not asked for. */
void sc_baseline_each_fixed(const struct sc_baseline *baseline,
                            void take(void *whom, const char *title), void *whom);

#endif

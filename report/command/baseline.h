/* A baseline: the hazards of earlier runs, known by their fingerprints, with which hazards are
 * compared: which are new, unchanged or fixed since. */
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

/* Adds the hazards in the file at `path`: a report, or what `--format json` has written. False: the
 * file cannot be used, and stderr was told why. */
bool sc_baseline_add(struct sc_baseline *baseline, const char *path,
                     const struct sc_frame_makers *makers);

/* The baseline's hazard with this fingerprint, which counts as not fixed from now on; NULL: it was
 * not there. */
struct sc_baseline_hazard *sc_baseline_find(struct sc_baseline *baseline, const char *fingerprint);

/* The hazard is at a place here, at one more of each call. `has_lines`: of all frames of the user's
 * own (fingerprint.h). */
void sc_baseline_note_place(struct sc_baseline_hazard *hazard, bool has_lines);

/* May hazards of the baseline's runs be missing, as a run did not end, or lines are lost? Then no
 * hazard is known to be new. */
bool sc_baseline_is_partial(const struct sc_baseline *baseline);

/* Where its runs asked for memory, as SC_MEMORY_BEFORE: the caller may add the other side. */
struct sc_memory_sites *sc_baseline_memory(struct sc_baseline *baseline);

/* By what the functions in its hazards are known. */
const struct sc_namings *sc_baseline_namings(const struct sc_baseline *baseline);

/* Hands `take` the title of each hazard that is at more places here than in the baseline. Without
 * lines here an offset is a place, of which a line may have several: then it is not known. Nor is
 * it where several files of --format json have one place, which counts in each. */
void sc_baseline_each_grown(const struct sc_baseline *baseline,
                            void take(void *whom, const char *title, size_t now, size_t before),
                            void *whom);

/* Words for one hazard that is at more places than in the baseline: "at 2 places here and 1 in the
 * baseline, so one may be new". NULL: it is at no more, or that is not known. */
const char *sc_baseline_grown_words(const struct sc_baseline_hazard *hazard,
                                    struct sc_scratch *scratch);

/* Calls `take` with the title of each hazard of the baseline that was never asked for, and so is
 * fixed. */
void sc_baseline_each_fixed(const struct sc_baseline *baseline,
                            void take(void *whom, const char *title), void *whom);

#endif

/* What it costs to keep a source as it was: by a snapshot, which is copied and compared, or by
 * pages that are write-protected and made writable again, by either mechanism of the guard.
 *
 * All depend on the machine, on the program's threads and on what its caches hold, so they are
 * measured while it runs: what the latest pages took, over how many pages these were. A source
 * whose pages are protected already takes nothing, and counts. Lock-free; thread safe and signal
 * safe. Some of what several threads note at once may be lost.
 */
#ifndef SC_TRACK_SOURCE_COSTS_H
#define SC_TRACK_SOURCE_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_source_keeping {
    SC_SOURCE_BY_SNAPSHOT,
    SC_SOURCE_BY_MPROTECT,
    SC_SOURCE_BY_USERFAULT,
    SC_SOURCE_KEEPINGS,
};

enum { SC_SOURCE_COSTS_MIN_BYTES = 32 << 10 }; /* what is measured has no less */

/* So many ticks went into keeping a source so; `is_another`: one that has not counted yet. Smaller
 * sources do not count. */
void sc_source_costs_note(enum sc_source_keeping by, size_t size_bytes, uint64_t ticks,
                          bool is_another);

/* Is a snapshot likely to be cheaper than this guard? The dearer one is taken now and then, to be
 * measured: some snapshots in a row, ever more rarely. `for_many`: where several threads have such
 * sources. Then a snapshot is taken unless it takes twice as long. The guard finds who overwrites a
 * source, so that fewer threads' sources have snapshots only where many were guarded before, and
 * where that has cost half as much again. */
bool sc_source_costs_prefer_snapshots(enum sc_source_keeping guard, bool for_many);

#endif

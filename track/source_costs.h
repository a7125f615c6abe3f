/* What it costs to find whether a source was overwritten: by a snapshot, which is copied and
 * compared, or by pages that are write-protected and made writable again, by either mechanism of
 * the guard.
 *
 * The costs depend on the machine, on the program's threads and on what its caches hold. So they
 * are measured while the program runs: the time that the latest pages took, divided by how many
 * pages these were. A source whose pages are protected already takes no time, and counts.
 * Lock-free; thread-safe and signal-safe. If several threads note costs at once, some may be lost.
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

enum { SC_SOURCE_COSTS_MIN_BYTES = 32 << 10 }; /* smaller sources are not measured */

/* Notes the time that a source took in this way. `is_another`: the source has not been counted yet.
 * Smaller sources than SC_SOURCE_COSTS_MIN_BYTES do not count. */
void sc_source_costs_note(enum sc_source_keeping by, size_t size_bytes, uint64_t ticks,
                          bool is_another);

/* Is a snapshot likely to be cheaper than this guard? Now and then the answer is the more expensive
 * way, to measure that: some snapshots in a row, more and more rarely. `for_many`: several threads
 * have such sources. Then a snapshot is preferred unless it takes twice as long. The guard finds
 * who overwrites a source. So a single thread's sources have snapshots only after many were
 * guarded, and if guarding has cost half as much again. */
bool sc_source_costs_prefer_snapshots(enum sc_source_keeping guard, bool for_many);

#endif

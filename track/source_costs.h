/* What it costs to keep a source as it was: by a snapshot, which is copied and compared, or by
 * pages that are write-protected and made writable again.
 *
 * Both depend on the machine, on the program's threads and on what its caches hold, so they are
 * measured while it runs: moving averages for each page of the source. Lock-free; thread safe and
 * signal safe. Averages of several threads may lose a sample of one.
 */
#ifndef SC_TRACK_SOURCE_COSTS_H
#define SC_TRACK_SOURCE_COSTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_source_cost {
    SC_SOURCE_COPIED,
    SC_SOURCE_COMPARED,
    SC_SOURCE_PROTECTED,
    SC_SOURCE_UNPROTECTED,
    SC_SOURCE_COSTS,
};

enum { SC_SOURCE_COSTS_MIN_BYTES = 32 << 10 }; /* what is measured has no less */

/* Ticks for each page; 0: not measured yet. */
extern _Atomic uint32_t sc_source_costs[SC_SOURCE_COSTS] __attribute__((visibility("hidden")));

/* It took so many ticks. */
void sc_source_costs_note(enum sc_source_cost cost, size_t size_bytes, uint64_t ticks);

/* Is a snapshot likely to be cheaper? What has not been measured is tried first, and the dearer one
 * now and then again. */
bool sc_source_costs_prefer_snapshots(void);

#endif

/* The version of a table that readers look into without a lock, odd while a change is under way.
 *
 * Readers know of a change by whatever they see of it: all that is stored in between is stored with
 * release, and so no store of the version needs to be a locked one. Its only writer has the table's
 * lock.
 */
#ifndef SC_TRACK_SEQLOCK_H
#define SC_TRACK_SEQLOCK_H

#include <stdatomic.h>
#include <stdint.h>

/* Before a change, and after it. */
static inline void sc_seqlock_next(_Atomic uint64_t *version)
{
    uint64_t now = atomic_load_explicit(version, memory_order_relaxed);
    atomic_store_explicit(version, now + 1, memory_order_release);
}

#endif

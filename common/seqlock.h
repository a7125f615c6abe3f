/* A sequence lock: the version of a table that readers use without a lock. It is odd while a change
 * is under way.
 *
 * All stores of a change are release stores, so a reader that sees any of them also sees the odd
 * version. Therefore the version can be written by plain stores, which are cheaper than atomic
 * additions. Only a thread that holds the table's lock writes the version. Signal-safe. */
#ifndef SC_TOOLS_SEQLOCK_H
#define SC_TOOLS_SEQLOCK_H

#include <stdatomic.h>
#include <stdint.h>

/* Makes the version odd, before a change, or even again, after it: readers without the lock search
 * again if they meet an odd one, or another than before. */
static inline void sc_seqlock_next(_Atomic uint64_t *version)
{
    uint64_t now = atomic_load_explicit(version, memory_order_relaxed);
    atomic_store_explicit(version, now + 1, memory_order_release);
}

#endif

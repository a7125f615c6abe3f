/* How many threads do something. About: threads whose numbers are alike count as one, and those
 * that have ended go on counting. Lock-free; thread safe and signal safe. */
#ifndef SC_INTERPOSE_MEMORY_SEEN_THREADS_H
#define SC_INTERPOSE_MEMORY_SEEN_THREADS_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/base/process.h"

/* Adds the calling thread; returns how many there are. */
static inline unsigned sc_seen_threads_add(_Atomic uint64_t *seen)
{
    uint64_t bit = UINT64_C(1) << (unsigned)sc_thread_id() % 64;
    uint64_t all = atomic_load_explicit(seen, memory_order_relaxed);
    if (!(all & bit))
        all = atomic_fetch_or_explicit(seen, bit, memory_order_relaxed) | bit;
    return (unsigned)__builtin_popcountll(all);
}

#endif

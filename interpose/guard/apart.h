/* Keeps intervals of pages that are protected again and again as mappings of their own, so that
 * mprotect takes less time for them.
 *
 * mprotect on pages in the middle of a mapping splits the mapping in three, and unprotecting them
 * merges it again. That takes twice as long as protecting a whole mapping. So an interval that was
 * unprotected a few times, each time with exactly these bounds, gets an madvise value (MADV_RANDOM
 * or MADV_SEQUENTIAL) that its neighbours do not have. Linux does not merge mappings whose values
 * differ. This is done only in pinned memory that the library has mapped: in the program's own
 * memory the value would change how Linux reads ahead, and mremap needs a single mapping. An
 * interval that is unprotected together with its neighbours stays merged, as one mapping is cheaper
 * for all of them.
 *
 * Each separate interval costs the process two mappings; there are at most APART_MAX.
 *
 * Locks: the caller holds the lock of the pages' stripe (a set of pages with a lock of its own,
 * interpose/guard/protect.h), except for sc_apart_any and sc_apart_forget. Signal-safe under that
 * lock; no CUDA; errno is kept. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   neighbour: memory beside the copied bytes, on a page of the span
 *   stripe: a set of pages that share one of the guard's locks
 */

#ifndef SC_INTERPOSE_GUARD_APART_H
#define SC_INTERPOSE_GUARD_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counts that these protected pages, and no others, are about to be unprotected. Makes them a
 * separate mapping when that has happened often enough. */
void sc_apart_note(uintptr_t address, size_t size_bytes);

/* Is any interval a separate mapping? Needs no lock. */
bool sc_apart_any(void);

/* Resets the count of separate intervals in a forked child, which protects no pages. Takes no lock,
 * as another thread of the parent may have held it. */
void sc_apart_forget(void);

/* Merges all separate intervals with their neighbours and makes no new ones. Called when the
 * process has no mappings left (vm.max_map_count). */
void sc_apart_join_all(void);

#endif

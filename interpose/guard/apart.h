/* Keeps pages that are guarded again and again as mappings of their own, which makes guarding them
 * cheaper.
 *
 * To protect pages in the middle of a mapping cuts it in three, and to unprotect them joins it
 * again. That takes twice as long as to protect a whole mapping. So an interval of the library's
 * own pinned memory that was unprotected a few times, each time exactly that interval, gets an
 * advice (MADV_RANDOM or MADV_SEQUENTIAL) that its neighbours do not have, and the kernel no longer
 * joins them. Pages that are unprotected together with their neighbours get none, since one mapping
 * is cheaper for them. Memory of the program's gets none: there the advice would mean something,
 * and mremap wants one mapping.
 *
 * Each such interval costs the process two mappings; there are at most APART_MAX.
 *
 * Locks: the caller holds the lock under which the kernel is told (interpose/guard/protect.h), but
 * not for sc_apart_any and sc_apart_forget. Signal-safe under it; no CUDA; errno is kept. */
#ifndef SC_INTERPOSE_GUARD_APART_H
#define SC_INTERPOSE_GUARD_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Notes that these protected pages, and none beside them, are about to be unprotected. After some
 * times they become a mapping of their own. */
void sc_apart_note(uintptr_t address, size_t size_bytes);

/* Is any interval kept apart? Needs no lock. */
bool sc_apart_any(void);

/* In a forked child, which guards nothing: no interval counts as kept apart any more. Takes no
 * lock, as another thread of the parent may have had it. */
void sc_apart_forget(void);

/* Joins all of them to their neighbours, for good: the process has no mappings left. */
void sc_apart_join_all(void);

#endif

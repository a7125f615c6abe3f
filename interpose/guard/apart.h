/* Pages that are guarded again and again, as mappings of their own.
 *
 * To protect pages in the midst of a mapping parts it in three, and to let go of them joins it
 * again. That takes twice as long as to protect a whole mapping. So pages of the library's own
 * pinned memory that were let go as the same interval a few times are given an advice that their
 * neighbours have not (MADV_RANDOM, MADV_SEQUENTIAL). The kernel then leaves them apart. Not so
 * pages that are let go together with their neighbours, which as one mapping takes less. On memory
 * of the program's the advice would mean something, and mremap wants one mapping.
 *
 * A process pays two mappings for each such interval, up to APART_MAX of them.
 *
 * But for sc_apart_any and sc_apart_forget nothing here is thread safe: the caller holds the lock
 * under which the kernel is told (interpose/guard/protect.h). Signal safe under it; no lock, no
 * CUDA; errno is kept.
 */
#ifndef SC_INTERPOSE_GUARD_APART_H
#define SC_INTERPOSE_GUARD_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pages, which were protected, are about to be let go: these and no others beside them. */
void sc_apart_note(uintptr_t address, size_t size_bytes);

/* Is any interval kept apart? Needs no lock. */
bool sc_apart_any(void);

/* In the child of a fork, which guards nothing: no interval is kept apart for its sake. Without the
 * lock, which a thread of the parent's may have had. */
void sc_apart_forget(void);

/* Joins all of them to their neighbours, for good: the process has no mappings left. */
void sc_apart_join_all(void);

#endif

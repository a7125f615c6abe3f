/* Tells the kernel what the guard has decided (track/guard.h), by mprotect.
 *
 * Pages that the kernel works on for the program are left alone (interpose/loans.h). Where there is
 * no mapping left (vm.max_map_count), nothing stays guarded. Locks: one of its own, before the
 * tracker's, so that the kernel hears of changes in the order in which they were decided. Nothing
 * here calls CUDA; async-signal-safe where sc_track_inside is 0; errno is kept.
 */
#ifndef SC_INTERPOSE_PROTECT_H
#define SC_INTERPOSE_PROTECT_H

#include <stdbool.h>
#include <stdint.h>

/* Returns when no page is protected for the sake of an operation that had ended before the call. */
void sc_protect_settle(void);

/* The page has the protection that the tracker knows of, whatever it had before. */
void sc_protect_mend(uintptr_t address);

/* Everything settled: does the page have an access that makes it ours to answer for, or one that
 * the program's own mapping allows? */
bool sc_protect_is_accessible(uintptr_t address, bool write);

/* Without a lock: the page is let go behind the tracker's back. */
void sc_protect_let_through(uintptr_t address);

/* Without a lock, in the child of a fork, which has copies of the pages, and of their protection:
 * all of them are let go. True: one at the address was protected. */
bool sc_protect_inherited(uintptr_t address);

#endif

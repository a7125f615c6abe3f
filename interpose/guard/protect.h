/* Tells the kernel what the guard has decided (track/spans.h), and says whose a fault is.
 *
 * The invariant: a page that is protected for the guard's sake is covered by a span. The span may
 * have ended, as long as the kernel has not been told of its end. A span covers its pages before
 * the kernel is told to protect them, and until the kernel has been told to let them go. The kernel
 * is told under one lock only, which is the lane's of the page (track/spans.h). So under that lock
 * a page that no span covers is as the program has made it, and only then may a fault on the page
 * be the program's own.
 *
 * Pages that the kernel works on for the program are left alone (interpose/guard/loans.h). Where
 * there is no mapping left (vm.max_map_count) pages are not protected. What the kernel will not let
 * go of stays covered until it does.
 *
 * Locks: one of the module's own for each lane, lower lanes first, before the tracker's, so that
 * the kernel hears of changes in the order in which they were decided. Nothing here calls CUDA;
 * errno is kept. Thread safe; signal safe where sc_own_lock_depth is 0 and nobody can take the
 * thread away.
 */
#ifndef SC_INTERPOSE_GUARD_PROTECT_H
#define SC_INTERPOSE_GUARD_PROTECT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/pages.h"

/* Returns when the pages of operations that the calling thread has issued are protected, and no
 * page is protected for the sake of an operation that the thread has ended, or that had ended
 * before on one of these streams (sc_spans_stream_bit). What other threads are about to apply
 * besides is left to them. */
void sc_protect_apply(uint64_t stream_bits);

/* Takes the locks of these lanes (bits), so that what a step of the tracker's changes in them is
 * due (track/spans.h); the thread has none of them. Then tells the kernel of it, and of whatever
 * else the thread has left unapplied in them, and gives the locks back. There must be little
 * between the two. */
void sc_protect_attend(uint64_t lanes);
void sc_protect_tell(void);

/* Gives the area of the address its lane (sc_spans_move_area), and calls `adopt` for it under the
 * locks of both lanes. False: some of it is guarded, or `adopt` has said no. */
bool sc_protect_move(uintptr_t address, bool (*adopt)(uintptr_t));

/* Notes by which mechanism an operation on these pages of areas is to be guarded
 * (sc_userfaults_leave). */
void sc_protect_leave(const struct sc_pages *pages, bool left);

/* Sources on these pages, which lie in one area, are write-protected by userfaultfd from now on
 * (sc_userfaults_take_sources). */
void sc_protect_take_sources(const struct sc_pages *pages);

/* The kernel has taken pages of interpose/memory/areas.h out of the page tables for the program:
 * those that userfaultfd serves, and that are not kept off, come back. */
void sc_protect_restore(const struct sc_pages *pages);

/* The process has no mappings left: gives back those that pages guarded again and again take
 * (interpose/guard/apart.h). */
void sc_protect_join_all(void);

/* Gives the page the protection that the tracker knows of, whatever the page had before. */
void sc_protect_mend(uintptr_t address);

/* Opens a page of the guard's for an instruction, whatever the tracker knows of, and gives it its
 * protection again. Open: false where the page is no more the guard's, or the kernel refuses. Close
 * leaves such a page alone. */
bool sc_protect_open(uintptr_t page);
void sc_protect_close(uintptr_t page);

/* Was a touch denied by what the program itself has made of the page? False: the page is, was or is
 * about to be the guard's, and the touch is to be made again. */
bool sc_protect_is_programs(uintptr_t address, enum sc_touch touch);

/* A thread waits in the kernel for a page that userfaultfd keeps off: it goes on. Where an
 * operation still guards the page, its touch is a fault from now on (sc_guard_fault), if it may be
 * denied. Waits for the lane's lock for a fifth of a second, and lets the touch through then.
 * False: it is let through, though an operation guards the page. For the thread that reads events.
 */
bool sc_protect_answer(uintptr_t address, bool may_deny);

/* Lets go of the page behind the tracker's back, without a lock. False: the kernel refuses. */
bool sc_protect_let_through(uintptr_t address);

/* In the child of a fork, which has copies of the pages and of their protection: lets go of all of
 * them, without a lock. True: the page at the address was protected. */
bool sc_protect_let_go_inherited(uintptr_t address);

#endif

/* The access guard: pages of a buffer in flight are protected until its operations are done.
 *
 * Pages of a source are read-only, pages of a destination inaccessible, from issue until the
 * operation is known done (without strict=1 at most until it is complete). Whoever touches bytes of
 * the operation meanwhile is reported (SC201, SC202, SC203), waits for the operation in mode=fix,
 * and goes on with right data. A touch beside those bytes is no mistake: its page is let go.
 *
 * What is protected follows from the operations that the tracker knows. Every change there leaves
 * unapplied spans, and sc_guard_apply (base/upcalls.h) brings the pages into line.
 *
 * Touches are handled on a spare stack with signals blocked. They are waited for without a lock and
 * with nothing to clean up, so a signal handler may take the thread away at any time.
 *
 * Thread safe; signal safe only where said. Nothing here calls CUDA; errno is kept. Locks: the
 * guard's own, held over mprotect, before the tracker's. sc_guard_busy and sc_guard_overlaps are
 * lock-free.
 */
#ifndef SC_INTERPOSE_GUARD_GUARD_H
#define SC_INTERPOSE_GUARD_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/pages.h"

struct sc_culprit;
struct sc_op_info;
struct sc_range_info;

/* Is anything protected, or about to be let go? One relaxed load. */
bool sc_guard_busy(void);

/* Can the interval touch an operation in flight, or a page that is protected for one? Lock-free;
 * false only if not. */
bool sc_guard_overlaps(const void *address, size_t size_bytes);

/* The kernel or the driver is about to touch the interval on the program's behalf, and would fail
 * with EFAULT instead of faulting. Reports and waits as for a touch by the program itself, and then
 * lets go of every page of the interval. Signal safe. */
void sc_guard_touch(const void *address, size_t size_bytes, enum sc_touch touch,
                    const struct sc_culprit *culprit);

/* Lets go of every page of the interval, and neither reports nor waits: the driver is about to look
 * at memory there that is none of an operation's. Signal safe. */
void sc_guard_let_go(const void *address, size_t size_bytes);

/* Nothing of the ranges in the interval is guarded any more. Takes locks of the library's. */
void sc_guard_forbid(uintptr_t address, size_t size_bytes);

/* Would a system call not find these pages again, once the kernel has taken them out of the page
 * tables for the program (madvise)? Nothing of their content would be lost. */
bool sc_guard_needs_pages(const void *address, size_t size_bytes);

/* The kernel has taken them out, and they may have become such meanwhile: it finds them again. */
void sc_guard_restore_pages(const void *address, size_t size_bytes);

/* Lets go of all pages: the process ends, or is about to become another. Signal safe. */
void sc_guard_release_all(void);

/* The kernel has just refused the program something, by errno. True: mappings were wanting; nothing
 * is guarded now, so there are more of them, and the call is worth repeating. */
bool sc_guard_makes_room(void);

/* Chooses which pages of an operation on this range are to be guarded when it is recorded, and what
 * the host may do with them. The operation stays as it is where none can be guarded, or none of
 * this call site's at present (interpose/guard/guard_budget.h). `site`: where the call returns to.
 * Takes SIGSEGV over and starts the reaper where that has to be. */
void sc_guard_choose(const struct sc_range_info *range, struct sc_op_info *op, const void *site);

/* The same for an operation on pageable memory. `in_place`: the device itself touches it there, and
 * would be kept from writing it: it is not guarded. */
void sc_guard_choose_pageable(struct sc_op_info *op, bool in_place, const void *site);

/* May the memory be a thread's stack? */
bool sc_guard_may_be_stack(uintptr_t address, size_t size_bytes);

/* In the child of a fork, which has nothing in flight: lets go of all pages. Takes no lock. */
void sc_guard_child(void);

#endif

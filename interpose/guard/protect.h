/* Protects and unprotects pages as the tracker's spans (track/spans.h) ask for, and tells whether a
 * fault is the guard's or the program's own.
 *
 * What always holds: a page that is protected for the guard is covered by a span. A span covers its
 * pages before the kernel is told to protect them, and until the kernel has been told to unprotect
 * them, even if the span has ended meanwhile. The kernel is told under one lock, that of the page's
 * stripe (track/spans.h). So under that lock a page that no span covers is as the program has made
 * it, and only a fault on such a page can be the program's own.
 *
 * Pages that the kernel works on for the program are left unprotected (interpose/guard/loans.h),
 * and so are pages for which no mapping is left (vm.max_map_count). Pages that the kernel refuses
 * to unprotect stay covered until it does.
 *
 * Locks: one of the module's own for each stripe, lower stripes first, before the tracker's, so
 * that the kernel hears of changes in the order in which the tracker made them. Nothing here calls
 * CUDA; errno is kept. Thread-safe; signal-safe where sc_library_lock_depth is 0 and nobody can
 * take the thread away. */
#ifndef SC_INTERPOSE_GUARD_PROTECT_H
#define SC_INTERPOSE_GUARD_PROTECT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/pages.h"

/* The body of sc_guard_apply (interpose/guard/door.h). */
void sc_protect_apply(uint64_t stream_bits);

/* Takes the locks of these stripes (a bit each) before a step of the tracker's.
 * sc_protect_apply_and_unlock, after the step, tells the kernel of what has changed in them and
 * gives the locks back. */
void sc_protect_lock_stripes(uint64_t stripes);
void sc_protect_apply_and_unlock(void);

/* Moves the area that contains the address to the stripe meant for it (sc_spans_move_area), and
 * calls `adopt` for it under the locks of both stripes. False: some of the area is guarded, or
 * `adopt` has returned false. */
bool sc_protect_move_area(uintptr_t address, bool (*adopt)(uintptr_t));

/* Notes by which mechanism an operation on these pages of areas is to be guarded
 * (sc_userfaults_note_mechanism). */
void sc_protect_note_mechanism(const struct sc_pages *pages, bool left);

/* From now on userfaultfd can write-protect these pages, which lie in one area, when a copy reads
 * them (sc_userfaults_adopt_sources). */
void sc_protect_adopt_sources(const struct sc_pages *pages);

/* The kernel has taken pages of interpose/memory/areas.h out of the page tables for the program:
 * those that userfaultfd serves, and that are not kept off, come back. */
void sc_protect_restore(const struct sc_pages *pages);

/* Gives up all mappings that interpose/guard/apart.h has made, since the process has none left. */
void sc_protect_join_all(void);

/* Gives the page the protection that the tracker's records ask for, whatever protection it has. */
void sc_protect_repair_page(uintptr_t address);

/* Open makes a guarded page accessible for the length of one instruction, whatever is in flight
 * there; close protects it again. Open returns false if the page is no longer guarded, or the
 * kernel refuses. Close leaves a page alone that is no longer guarded. */
bool sc_protect_open_page(uintptr_t page);
void sc_protect_close_page(uintptr_t page);

/* Was the touch denied by a protection that the program itself has made? False: the guard has, had
 * or is about to have the page, and the touch is to be repeated. */
bool sc_protect_is_program_fault(uintptr_t address, enum sc_touch touch);

/* A thread waits in the kernel for a page that userfaultfd keeps off: it goes on. Where an
 * operation still guards the page, its touch is a fault from now on (sc_guard_fault), if it may be
 * denied. Waits for the stripe's lock for a fifth of a second, and lets the touch through then.
 * False: it is let through, though an operation guards the page. For the thread that reads events.
 */
bool sc_protect_answer_touch(uintptr_t address, bool may_deny);

/* Makes the page accessible without a lock, although the tracker's records still ask for its
 * protection. False: the kernel refuses. */
bool sc_protect_unprotect_at_once(uintptr_t address);

/* In the child of a fork, which has copies of the pages and of their protection: lets go of all of
 * them, without a lock. True: the page at the address was protected. */
bool sc_protect_unprotect_inherited(uintptr_t address);

#endif

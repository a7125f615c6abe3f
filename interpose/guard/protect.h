/* Protects and unprotects pages (by mprotect or userfaultfd) as the tracker's spans say, and finds
 * whether a fault is due to that or is the program's. A span is a run of pages that one operation
 * wants protected (track/spans.h).
 *
 * What always holds: a page that the guard protects is covered by a span. A span covers its pages
 * before the system call that protects them, and until the system call that unprotects them has
 * returned, even if the span has ended meanwhile. These system calls are made under the lock of the
 * page's stripe. So under that lock a page that no span covers has the access that the program gave
 * it, and only a fault on such a page can be the program's.
 *
 * Pages that a system call of the program is using stay unprotected (interpose/guard/loans.h), and
 * so do pages for which no mapping is left (vm.max_map_count). Pages that Linux refuses to
 * unprotect stay covered until it does.
 *
 * Locks: one for each stripe, lower stripes first, before the tracker's; so the system calls are
 * made in the order of the tracker's changes. No function calls CUDA; errno is kept. Thread-safe.
 * Signal-safe where sc_library_lock_depth is 0 and no signal handler can run that leaves the
 * function by siglongjmp. */

/* Terms (docs/glossary.md):
 *   apply: to make the system calls that bring pages into line with the spans
 *   door: a way by which calls reach the wrappers: an exported symbol, dlsym, cuGetProcAddress
 *   guard: page protection of the memory of operations in flight
 *   in flight: issued, and the host does not know yet that it is done
 *   loan: memory that a system call uses, unprotected until the call returns
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   span: a run of pages that one operation wants protected
 *   stripe: a set of pages that share one of the guard's locks
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_GUARD_PROTECT_H
#define SC_INTERPOSE_GUARD_PROTECT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/pages.h"

/* Makes the system calls for changes of protection that the tracker has only recorded so far: those
 * of this thread, and those by the end of operations on these streams (sc_guard_apply in
 * interpose/guard/door.h). */
void sc_protect_apply(uint64_t stream_bits);

/* Takes the locks of these stripes (sets of pages, a bit each), before the tracker records changes
 * of protection there. sc_protect_apply_and_unlock then makes the system calls for these, and
 * releases the locks. */
void sc_protect_lock_stripes(uint64_t stripes);
void sc_protect_apply_and_unlock(void);

/* Moves the area (2 MB of pinned memory) that contains the address to the stripe meant for it
 * (sc_spans_move_area), and calls `adopt`, which registers it with userfaultfd, under the locks of
 * both stripes. False: some of the area is guarded, or `adopt` has returned false. */
bool sc_protect_move_area(uintptr_t address, bool (*adopt)(uintptr_t));

/* Records for these pages by which mechanism the latest operation on them is to be guarded
 * (sc_userfaults_note_mechanism). */
void sc_protect_note_mechanism(const struct sc_pages *pages, bool by_mprotect);

/* Registers these pages, which lie in one area, for write-protection by userfaultfd, for copies
 * that read them (sc_userfaults_adopt_sources). */
void sc_protect_adopt_sources(const struct sc_pages *pages);

/* Maps pages of the library's pinned memory (interpose/memory/areas.h) again that a system call of
 * the program has removed from the page tables (MADV_DONTNEED and the like): those that are
 * registered with userfaultfd and not protected at present. */
void sc_protect_restore(const struct sc_pages *pages);

/* Merges all mappings that interpose/guard/apart.h has separated, since the process has no mappings
 * left. */
void sc_protect_join_all(void);

/* Sets the page's access to the one that the tracker has recorded, whatever it is now. Called if
 * the same fault comes again and again: the page's access must then differ from what is recorded.
 */
void sc_protect_repair_page(uintptr_t address);

/* sc_protect_open_page makes a protected page accessible for the length of one instruction,
 * whatever is in flight there; false: the page is no longer guarded, or Linux refuses.
 * sc_protect_close_page protects it again, if it is still guarded. */
bool sc_protect_open_page(uintptr_t page);
void sc_protect_close_page(uintptr_t page);

/* Was the touch denied by an access that the program itself has set? False: the guard protects the
 * page, did so until now or is about to, and the instruction is to be repeated. */
bool sc_protect_is_program_fault(uintptr_t address, enum sc_touch touch);

/* Answers a touch of a page that userfaultfd protects, for which a thread waits in Linux. If an
 * operation still guards the page and `may_deny` is true, the page is protected by mprotect
 * instead, so that the repeated touch raises SIGSEGV (sc_guard_fault). Otherwise the touch
 * succeeds. Waits at most a fifth of a second for the stripe's lock; after that the touch succeeds,
 * too. False: the touch succeeds although an operation guards the page. Called by the thread that
 * reads userfaultfd. */
bool sc_protect_answer_touch(uintptr_t address, bool may_deny);

/* Makes the page accessible without a lock, although the tracker's spans still protect it: for a
 * thread that cannot wait for a lock, since it has interrupted its owner. False: Linux refuses. */
bool sc_protect_unprotect_at_once(uintptr_t address);

/* Unprotects all pages in a forked child, which has copies of the pages and of their protection.
 * Takes no lock. True: the page at the address was protected. */
bool sc_protect_unprotect_inherited(uintptr_t address);

#endif

/* The guard: pages of a buffer in flight (used by an incomplete operation of the device) are
 * protected against the program, so that a touch which comes too early is noticed. A touch is a
 * read or a write by the program's threads, or by a system call for them. These functions are all
 * that other folders may call of guard/, signals/ and system_calls/ (scripts/check-limits).
 *
 *     protect     sc_guard_protect chooses the pages of an operation; sc_guard_lock_stripes and
 *                 sc_guard_apply make the tracker's changes effective.
 *     unprotect   sc_guard_unprotect makes pages accessible; sc_guard_makes_room frees mappings for
 *                 a system call that failed for want of them; sc_guard_has asks whether there is
 *                 anything to unprotect.
 *     pin         sc_guard_pin prepares new pinned memory; sc_guard_serves_areas and
 *                 sc_guard_uses_userfault tell which mechanism guards it.
 *
 * The pages of a source become read-only, and those of a destination inaccessible, from issue until
 * the program has waited for the operation (without strict=1, at most until it is complete). There
 * are two mechanisms: mprotect, where a touch raises SIGSEGV, and userfaultfd
 * (interpose/guard/userfaults.h). Whoever touches bytes of the operation meanwhile is reported
 * (SC201, SC202, SC203), waits for the operation in mode=fix, and goes on with right data. A touch
 * beside those bytes, on the same page, is no mistake: the page is unprotected.
 *
 * The tracker (struct sc_track: what is in flight, behind one lock) records which pages each
 * operation wants protected (spans, track/spans.h). A change there is first unapplied: its system
 * call is still to be made, without that lock, by sc_guard_apply.
 *
 * Thread-safe; signal-safe only where stated. No function calls CUDA; errno is kept. Locks: the
 * guard's are held over mprotect and are taken before the tracker's; the caller may hold no lock of
 * the library. A function that is called lock-free takes none. */

/* Terms (docs/glossary.md):
 *   apply: to make the system calls that bring pages into line with the spans
 *   complete: finished by the device, whether or not the program knows
 *   guard: page protection of the memory of operations in flight
 *   hook: our function in the place of one of the C library's
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   range: host memory that the driver knows: one allocation or one registration
 *   reaper: the library's thread that judges hazards, reports them and frees held memory
 *   site: the address to which a hook or wrapper returns: the program's call
 *   source: the memory that a copy reads
 *   span: a run of pages that one operation wants protected
 *   stripe: a set of pages that share one of the guard's locks
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_GUARD_DOOR_H
#define SC_INTERPOSE_GUARD_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/base/compiler.h"

enum sc_buffer_kind;
struct sc_range_info;
struct sc_op_info;
struct sc_report_guard;

/* ---- protect ---- */

/* Chooses which pages of a new operation are to be protected, and which access the program keeps
 * (to a source reading, to a destination none), and stores both in `op`, before the tracker records
 * `op`. `range`: the allocation or registration that it uses; for pageable memory the operation's
 * bytes, with the id 0. Leaves `op` without a guard if no page can be protected, or if guard_budget
 * (the share of time that guarding may take) leaves out this call site at present. `site`: the
 * address to which the call returns. Installs the handler of SIGSEGV, and starts the thread that
 * ends the waits of touches (the reaper), if necessary. */
void sc_guard_protect(const struct sc_range_info *range, struct sc_op_info *op, const void *site);

/* Takes the locks of these stripes (sets of pages with a lock each, as bits; track/spans.h). Called
 * before the tracker records the begin or end of operations whose pages lie there. sc_guard_apply,
 * right after that, makes the system calls without taking the tracker's lock again, and releases
 * the stripes. `stripes` is only a hint: in others the changes are made more slowly. 0: does
 * nothing. */
void sc_guard_lock_some_stripes(uint64_t stripes);

static inline void sc_guard_lock_stripes(uint64_t stripes)
{
    if (sc_unlikely(stripes))
        sc_guard_lock_some_stripes(stripes);
}

/* Makes the system calls (mprotect, userfaultfd) that give all pages the access that the tracker's
 * spans (pages that an operation wants protected) ask for. On return the pages of operations that
 * the calling thread issued are protected. Pages of operations that the thread has ended, and of
 * those that ended on the streams in `stream_bits` (sc_spans_stream_bit), are unprotected. Changes
 * that other threads made are left to these threads. Costs three loads if there is nothing to do.
 *
 * A hook (of libc) or wrapper (of the driver) in which operations end must call this before it
 * returns, and before memory goes back to its owner. It passes the streams whose work the program
 * knows to be done by this call, or SC_GUARD_ALL. A call by which the program learns of no end
 * passes SC_GUARD_OWN: the calling thread's changes alone. */
#define SC_GUARD_ALL (~UINT64_C(0))
#define SC_GUARD_OWN UINT64_C(0)
void sc_guard_apply(uint64_t stream_bits);

/* ---- unprotect ---- */

/* Unprotects every page of the interval, without a report and without a wait. Called before a
 * system call or the driver uses the memory, which would fail on a protected page. Signal-safe. */
void sc_guard_unprotect(const void *address, size_t size_bytes);

/* Unprotects all pages if a system call of the program has just failed (errno) because the process
 * has no mappings left (vm.max_map_count). True: it did so, which frees mappings, and the caller
 * repeats the call. False: the call failed for another reason, or nothing can be freed here. */
bool sc_guard_makes_room(void);

/* May the interval overlap an operation in flight, or a page that is protected for one?
 * `size_bytes` SIZE_MAX: is any page guarded at all? Lock-free. */
bool sc_guard_has(const void *address, size_t size_bytes);

/* ---- pin ---- */

/* Prepares a new range (an allocation or registration) for the guard, before the call that makes it
 * returns to the program. Forgets what was recorded for earlier memory on its pages, registers the
 * library's own pinned memory (sc_areas_map) with userfaultfd, and exempts from protection those
 * pages of registered memory that Linux may touch at any time (robust mutexes,
 * interpose/system_calls/robust_mutexes.h). Not signal-safe. */
void sc_guard_pin(uintptr_t address, size_t size_bytes, enum sc_buffer_kind kind);

/* Starts userfaultfd for the library's own pinned memory (areas, interpose/memory/areas.h), with
 * the thread that answers touches. Returns whether userfaultfd can be used; if not, and with
 * guard=uffd, a warning says why, once. Called before such memory is mapped. */
bool sc_guard_serves_areas(void);

/* Would userfaultfd guard the whole pages of this interval, as a source or as a destination?
 * Asked where the price of the guard decides: threads that use userfaultfd do not wait for each
 * other as in mprotect, and need no SIGSEGV until a page is touched. Lock-free and signal-safe. */
bool sc_guard_uses_userfault(uintptr_t address, size_t size_bytes, bool is_source);

/* ---- the process and its threads ---- */

enum sc_guard_moment {
    /* The process starts, and the library will do nothing with signals (mode=off, or a setuid
     * program). */
    SC_GUARD_STARTS_UNWANTED,
    SC_GUARD_STARTS, /* the process starts, and may get the library's handler of SIGSEGV */
    /* CUDA is used from now on; the options are known. Takes the loader's lock. */
    SC_GUARD_USES_CUDA,
    /* A library is loaded, which may replace the handler of SIGSEGV by a system call. Costs three
     * stores. */
    SC_GUARD_LOADS_CODE,
    /* The process is a forked child, which has its own signal actions and copies of the protected
     * pages. */
    SC_GUARD_FORKED,
    SC_GUARD_ENDS, /* all pages are unprotected, without an unlimited wait for a lock */
};

/* Does what the guard has to do at this moment in the life of the process. Signal-safe except for
 * SC_GUARD_USES_CUDA; SC_GUARD_FORKED takes no lock. */
void sc_guard_process(enum sc_guard_moment moment);

/* Unblocks SIGSEGV on a thread of the driver that is about to run a function of the program: if
 * that touched a protected page with SIGSEGV blocked, Linux would kill the process. For a thread of
 * the library (`is_own`), only returns whether the thread must leave SIGSEGV unblocked in the mask
 * that it is about to set. One load as long as no page was guarded by mprotect, else a system call.
 * Signal-safe; lock-free. */
bool sc_guard_unblock_faults(bool is_own);

/* Returns the guard's figures for the summary. Lock-free and signal-safe. */
struct sc_report_guard sc_guard_totals(void);

#endif

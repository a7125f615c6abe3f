/* The guard: pages of a buffer in flight are protected until the operations on it are done, so that
 * a touch which comes too early is noticed. The functions below are all that the rest of the tree
 * calls of it.
 *
 * The rest of the tree asks the guard by this header alone, which any folder may include; what else
 * there is in guard/, signals/ and system_calls/ is named by these three (scripts/check-limits).
 * Four things are asked of it. Host access is asked for by nobody: it is a touch, or a call that
 * hands memory to the kernel, which system_calls/ touches first, as the program would. The other
 * three take more than a function each, for what only the caller knows:
 *
 *     protect     which operation (sc_guard_protect), which step of the tracker's it is part of
 *                 (sc_guard_lock_stripes), and where the call may be without tracker and locks
 *                 (sc_guard_apply).
 *     unprotect   which memory (sc_guard_unprotect); or that a call has just been refused, and may
 *                 be made again (sc_guard_makes_room). A hook that has much to do first asks
 *                 whether it has to (sc_guard_has).
 *     pin         which memory (sc_guard_pin). By whom it is served decides where it is mapped
 *                 (sc_guard_serves_areas), and whether a copy of its bytes is cheaper
 *                 (sc_guard_uses_userfault).
 *
 * Beside these the process has its moments, its threads have masks, and the summary has figures.
 *
 * Pages of a source are read-only, pages of a destination inaccessible, from issue until the
 * operation is known done (without strict=1 at most until it is complete). Whoever touches bytes of
 * the operation meanwhile is reported (SC201, SC202, SC203), waits for the operation in mode=fix,
 * and goes on with right data. A touch beside those bytes is no mistake: its page is let go.
 *
 * What is protected follows from the operations that the tracker knows. Every change there leaves
 * unapplied spans (track/spans.h), and sc_guard_apply brings the pages into line.
 *
 * Thread safe; signal safe only where said. Nothing here calls CUDA; errno is kept. Locks: the
 * guard's own, held over mprotect, before the tracker's; none of the library's may be held by the
 * caller. What is said to be lock-free takes none. */
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

/* Chooses which pages of a new operation on this range are to be protected, and what the host may
 * still do with them. Stores that in `op`, before the tracker records it. `range` of pageable
 * memory has the operation's bytes and no id. `op` stays as it is if no page can be guarded, or if
 * guard_budget leaves out the operations of this call site at present. `site`: where the call
 * returns to. Takes SIGSEGV over and starts the reaper if that is needed. */
void sc_guard_protect(const struct sc_range_info *range, struct sc_op_info *op, const void *site);

/* Prepares for the tracker's next step, which will issue or end operations in these stripes
 * (track/spans.h). sc_guard_apply, right after the step, then tells the kernel of the changes
 * without the tracker's lock. The stripes are only a hint. Nothing is done if there are none. */
void sc_guard_lock_some_stripes(uint64_t stripes);

static inline void sc_guard_lock_stripes(uint64_t stripes)
{
    if (sc_unlikely(stripes))
        sc_guard_lock_some_stripes(stripes);
}

/* Makes the protection of pages what the tracker's records ask for. On return pages of operations
 * that the calling thread has issued are protected. No page is protected any more for an operation
 * that the thread has ended, or that had ended before on one of the streams (bits of
 * sc_spans_stream_bit). Changes that other threads have made are left to these threads. Three loads
 * if there is nothing to do.
 *
 * A hook or wrapper in which operations end must call this before it returns, and before memory
 * goes back to its owner: for the streams whose end the program may learn of by the call, or for
 * SC_GUARD_ALL. A call that tells the program of no end passes SC_GUARD_OWN. */
#define SC_GUARD_ALL (~UINT64_C(0))
#define SC_GUARD_OWN UINT64_C(0)
void sc_guard_apply(uint64_t stream_bits);

/* ---- unprotect ---- */

/* Unprotects every page of the interval, without a report and without a wait: the kernel or the
 * driver is about to use memory there that belongs to no operation. Signal-safe. */
void sc_guard_unprotect(const void *address, size_t size_bytes);

/* For a system call of the program's that has just failed (errno). True: it failed since the
 * process has no mapping left. All pages were unprotected, which frees mappings, and the caller
 * repeats the call. */
bool sc_guard_makes_room(void);

/* May the interval overlap an operation in flight, or a page that is protected for one? SIZE_MAX
 * bytes: is anything guarded at all? False: it does not, or nothing at all is protected or about to
 * be unprotected. Lock-free. */
bool sc_guard_has(const void *address, size_t size_bytes);

/* ---- pin ---- */

/* A range has become known, and the program has not been told so yet. Forgets what was noted
 * of its pages, and registers memory of sc_areas_map with userfaultfd. Notes what parts of
 * registered memory must never be guarded, as the kernel may touch them at any time. Not
 * signal-safe. */
void sc_guard_pin(uintptr_t address, size_t size_bytes, enum sc_buffer_kind kind);

/* Can userfaultfd guard pinned memory of areas (interpose/memory/areas.h)? To be called before
 * there is such memory: starts the thread that answers touches. If userfaultfd cannot, a warning
 * with guard=uffd says why, once. */
bool sc_guard_serves_areas(void);

/* Are the whole pages of this interval guarded by userfaultfd, as a source or as a result? Then
 * guards of many threads do not wait for each other, and SIGSEGV is not needed until a page is
 * touched. Lock-free and signal-safe. */
bool sc_guard_uses_userfault(uintptr_t address, size_t size_bytes, bool is_source);

/* ---- the process and its threads ---- */

enum sc_guard_moment {
    SC_GUARD_STARTS_UNWANTED, /* the process starts, and no signal will be shared; */
    SC_GUARD_STARTS,          /* or some may be */
    SC_GUARD_USES_CUDA,       /* from now on; the options are known. Takes the loader's lock */
    SC_GUARD_LOADS_CODE, /* which may replace the handler of SIGSEGV past the hooks. Three stores */
    SC_GUARD_FORKED,     /* in the child: it has signals and copies of pages of its own */
    SC_GUARD_ENDS,       /* lets go of all pages, and waits for no lock without a limit */
};

/* Tells the guard that the process has come to this point, and does what is due then. Signal-safe
 * except for SC_GUARD_USES_CUDA; SC_GUARD_FORKED takes no lock. */
void sc_guard_process(enum sc_guard_moment moment);

/* Is SIGSEGV to be unblocked on the calling thread? For a thread of the driver's that is about to
 * run a function of the program's, and may have SIGSEGV blocked: then it is unblocked here. Or for
 * one of the library's (`is_own`), which is about to set its signal mask. One load before SIGSEGV
 * is shared, else a system call. Signal-safe; lock-free. */
bool sc_guard_unblock_faults(bool is_own);

/* What the summary says of the guard. Lock-free, and signal safe. */
struct sc_report_guard sc_guard_totals(void);

#endif

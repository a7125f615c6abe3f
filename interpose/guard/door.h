/* The guard's door: pages of a buffer in flight are protected until its operations are done.
 *
 * The rest of the tree asks the guard by this header alone, which any folder may include; what else
 * there is in guard/, signals/ and system_calls/ is named by these three (scripts/check-limits).
 * Four things are asked of it. Host access is asked for by nobody: it is a touch, or a call that
 * hands memory to the kernel, which system_calls/ touches first, as the program would. The other
 * three take more than a function each, for what only the caller knows:
 *
 *     protect     which operation (sc_guard_protect), which step of the tracker's it is part of
 *                 (sc_guard_attend), and where the call may be without tracker and locks
 *                 (sc_guard_apply).
 *     unprotect   which memory (sc_guard_unprotect); or that a call has just been refused, and may
 *                 be made again (sc_guard_makes_room). A hook that has much to do first asks
 * whether it has to (sc_guard_has).
 *
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
 * caller. What is said to be lock-free takes none.
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

/* Chooses which pages of an operation on this range are to be protected when it is recorded, and
 * what the host may do with them. `range`: of pageable memory the operation's bytes, and no id. The
 * operation stays as it is where none can be guarded, or none of this call site's at present
 * (guard_budget). `site`: where the call returns to. Takes SIGSEGV over and starts the reaper where
 * that has to be. */
void sc_guard_protect(const struct sc_range_info *range, struct sc_op_info *op, const void *site);

/* Before a step of the tracker's that issues or ends operations: what it changes of pages in these
 * lanes (track/spans.h) is told to the kernel by sc_guard_apply, without the tracker's lock, and
 * there is little between the two. Only a hint of what the step changes. No lane: nothing is done.
 */
void sc_guard_attend_some(uint64_t lanes);

static inline void sc_guard_attend(uint64_t lanes)
{
    if (sc_unlikely(lanes))
        sc_guard_attend_some(lanes);
}

/* Brings the pages into line with what the tracker knows: pages of operations that the calling
 * thread has issued are protected on return, and no page is protected for the sake of an operation
 * that the thread has ended, or that had ended before on one of the streams
 * (sc_spans_stream_bit). What other threads are about to apply besides is left to them. Three loads
 * when there is nothing to do.
 *
 * A hook or wrapper in which operations end must call this for the streams that it may tell of, or
 * for all, before it returns, and before memory goes back to where it came from. A call that tells
 * the program of no end has but its own to apply. */
#define SC_GUARD_ALL (~UINT64_C(0))
#define SC_GUARD_OWN UINT64_C(0)
void sc_guard_apply(uint64_t stream_bits);

/* ---- unprotect ---- */

/* Lets go of every page of the interval, and neither reports nor waits: the kernel or the driver is
 * about to look at memory there that is none of an operation's. Signal safe. */
void sc_guard_unprotect(const void *address, size_t size_bytes);

/* The kernel has just refused the program something, by errno. True: mappings were wanting; nothing
 * is guarded now, so there are more of them, and the call is worth repeating. */
bool sc_guard_makes_room(void);

/* Can the interval touch an operation in flight, or a page that is protected for one? Lock-free;
 * false only if not, or if nothing at all is protected or about to be let go. Of all memory
 * (SIZE_MAX bytes): is anything? One relaxed load more than a call. */
bool sc_guard_has(const void *address, size_t size_bytes);

/* ---- pin ---- */

/* A range is known from now on, and the program not yet told of it: its pages have no past. Those
 * of sc_areas_map are registered with userfaultfd. What the kernel may touch at any time of memory
 * that was registered is kept off the guard. Not signal safe. */
void sc_guard_pin(uintptr_t address, size_t size_bytes, enum sc_buffer_kind kind);

/* Can pinned memory of areas (interpose/memory/areas.h) be guarded by userfaultfd? If not,
 * guard=uffd says why, once. Asked before there is such memory, and starts who answers touches. */
bool sc_guard_serves_areas(void);

/* Is an interval of whole pages guarded by userfaultfd, for a source or for a result? Then a guard
 * costs many threads as little as one, and SIGSEGV is of no concern until a page is touched.
 * Lock-free, and signal safe. */
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

/* Has the guard do what is to be done then. Signal safe but for SC_GUARD_USES_CUDA; the child's
 * takes no lock. */
void sc_guard_process(enum sc_guard_moment moment);

/* The calling thread is about to run a function of the program's, on a thread of the driver's that
 * may have SIGSEGV really blocked: it is let in. Or it is one of the library's (`is_own`), which is
 * about to set its mask. True: SIGSEGV is to be let in. One load before SIGSEGV is shared, else a
 * system call. Signal safe; lock-free. */
bool sc_guard_lets_faults_in(bool is_own);

/* What the summary says of the guard. Lock-free, and signal safe. */
struct sc_report_guard sc_guard_totals(void);

#endif

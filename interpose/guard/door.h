/* The guard's door: pages of a buffer in flight are protected until its operations are done.
 *
 * The rest of the tree asks the guard by this header alone, which any folder may include; what else
 * there is in guard/, signals/ and system_calls/ is named by these three (scripts/check-limits).
 * system_calls/ does two things besides, which nobody has to ask for: what the program hands to the
 * kernel is touched first, as the program would, and pinned until the call is back.
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

/* Brings the pages into line with what the tracker knows: pages of operations that the calling
 * thread has issued are protected on return, and no page is protected for the sake of an operation
 * that the thread has ended, or that had ended before on one of the streams
 * (sc_spans_stream_bit). What other threads are about to apply besides is left to them. Two loads
 * when there is nothing to do. */
void sc_guard_apply_on(uint64_t stream_bits);

/* The same for all streams. A hook or wrapper in which operations end must call this before it
 * returns, and before memory goes back to where it came from. */
static inline void sc_guard_apply(void)
{
    sc_guard_apply_on(~UINT64_C(0));
}

/* The same for none: the call issues operations, and tells the program of no end. */
static inline void sc_guard_apply_own(void)
{
    sc_guard_apply_on(0);
}

/* Around one step of the tracker's that issues or ends operations: what it changes of pages in
 * these lanes (track/spans.h) is told to the kernel by sc_guard_tell, without the tracker's lock.
 * Only a hint of what the step changes: the rest is left to sc_guard_apply. No lane: nothing is
 * done. */
void sc_guard_attend_some(uint64_t lanes);
void sc_guard_tell_some(void);

static inline void sc_guard_attend(uint64_t lanes)
{
    if (sc_unlikely(lanes))
        sc_guard_attend_some(lanes);
}

static inline void sc_guard_tell(uint64_t lanes)
{
    if (sc_unlikely(lanes))
        sc_guard_tell_some();
}

/* ---- unprotect ---- */

/* Lets go of every page of the interval, and neither reports nor waits: the kernel or the driver is
 * about to look at memory there that is none of an operation's. Signal safe. */
void sc_guard_unprotect(const void *address, size_t size_bytes);

/* Lets go of all pages. `is_last`: the process ends, or is about to become another, and waits for
 * no lock without a limit. Signal safe. */
void sc_guard_unprotect_all(bool is_last);

/* The kernel has just refused the program something, by errno. True: mappings were wanting; nothing
 * is guarded now, so there are more of them, and the call is worth repeating. */
bool sc_guard_makes_room(void);

/* ---- what is guarded ---- */

/* Is anything protected, or about to be let go? One relaxed load. */
bool sc_guard_busy(void);

/* Can the interval touch an operation in flight, or a page that is protected for one? Lock-free;
 * false only if not, or if nothing is protected at all. */
bool sc_guard_overlaps(const void *address, size_t size_bytes);

/* May the memory be a thread's stack, as it is without the guard? */
bool sc_guard_may_be_stack(uintptr_t address, size_t size_bytes);

/* ---- memory that is made to be guarded ---- */

/* Can pinned memory of areas (interpose/memory/areas.h) be guarded by userfaultfd? If not,
 * guard=uffd says why, once. */
bool sc_guard_serves_areas(void);

/* Pages of sc_areas_map that the driver has pinned are registered with userfaultfd. False: they are
 * not, and are mprotect's. */
bool sc_guard_adopt(uintptr_t start, size_t size_bytes);

/* They are about to be unmapped; none is kept off. Lock-free, and signal safe. */
void sc_guard_leave(uintptr_t start, size_t size_bytes);

/* Is an interval of whole pages guarded by userfaultfd, for a source or for a result? Then a guard
 * costs many threads as little as one, and SIGSEGV is of no concern until a page is touched.
 * Lock-free, and signal safe. */
bool sc_guard_uses_userfault(uintptr_t address, size_t size_bytes, bool is_source);

/* A range of the program's is known from now on: its pages have no past. If it was registered, what
 * the kernel may touch there at any time is kept off the guard. */
void sc_guard_range_begins(uintptr_t address, size_t size_bytes, bool is_registered);

/* ---- the process and its threads ---- */

/* The process starts. With `wanted` false no signal will be shared. */
void sc_guard_start(bool wanted);

/* It uses CUDA from now on, and the options are known. Takes the loader's lock. */
void sc_guard_begin(void);

/* In a forked child, which has signals of its own, and of a parent that `used_cuda` copies of its
 * pages: lets go of all of them. Takes no lock. */
void sc_guard_child(bool used_cuda);

/* What the summary says of the guard. Lock-free, and signal safe. */
struct sc_report_guard sc_guard_totals(void);

/* What is about to happen may replace the handler of SIGSEGV past the hooks, as a runtime does that
 * starts: it is looked for more often again. Two stores. Signal safe. */
void sc_guard_doubt(void);

/* A thread of the driver's, which may have SIGSEGV really blocked, is about to run a function of
 * the program's. One load before SIGSEGV is shared, else a system call. */
void sc_guard_function_begins(void);

/* The calling thread is the library's, and is about to set its mask. True: SIGSEGV is to be let in.
 * Signal safe; lock-free. */
bool sc_guard_lets_faults_in(void);

#endif

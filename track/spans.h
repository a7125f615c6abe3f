/* Records which pages are to be protected, for which operation, and for which of them the system
 * call has not been made yet.
 *
 * A span is a run of pages that one operation wants protected. The program's access to a page is
 * the least that any live span on the page allows. A span begins and ends with its operation (is
 * live between). Each beginning and each end makes the span unapplied: the system call (mprotect or
 * userfaultfd, interpose/guard/) is still to be made. sc_spans_apply returns which pages to give
 * which access, and counts that change as made.
 *
 * So changes are recorded under the tracker's lock, and the system calls are made without it.
 *
 * Pages are divided into stripes, with a lock each, which the caller holds from recording a change
 * to its system call. Changes in one stripe are applied independently of the others. No span
 * reaches from one stripe into another: an interval has a span for each stripe. Pages move to
 * another stripe only while no span is there.
 *
 * A thread may lock some stripes before it takes the tracker's lock. A simple span (one system call
 * is enough) that begins or ends in a locked stripe becomes due instead of unapplied: the thread
 * makes its system call after it has released the tracker's lock, and before it releases the
 * stripe. So it takes the tracker's lock once, and not three times. Whoever has locked a stripe
 * therefore finds that all applied changes there have been made.
 *
 * Locks: every function needs the tracker's lock, except those that are lock-free. */

/* Terms (docs/glossary.md):
 *   apply: to make the system calls that bring pages into line with the spans
 *   guard: page protection of the memory of operations in flight
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   span: a run of pages that one operation wants protected
 *   stripe: a set of pages that share one of the guard's locks
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_SPANS_H
#define SC_TRACK_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/pages.h"
#include "common/pool.h"
#include "track/blocks.h"
#include "track/grid.h"
#include "track/spans_calls.h"

struct sc_span {
    struct sc_grid_node node; /* whole pages */
    uint32_t op;              /* the operation's id (track/inflight.h) */
    uint32_t stream;          /* the operation's */
    uint32_t next;            /* the next span (a run of protected pages) of the same operation */
    /* the next one in a list of struct sc_spans (unapplied, refused or due) */
    uint32_t unapplied_next;
    enum sc_access access;
    bool live;
    bool unapplied;
    /* May the span's pages be protected? True from its beginning until its end was applied. */
    _Atomic bool used;
    _Atomic uint32_t applied_next;
    /* for the pages before this address the system call was made, or was not needed */
    uintptr_t applied_to;
};

/* All spans (runs of protected pages). Fields that each operation changes lie in one cache line,
 * apart from those that are only read. */
struct sc_spans {
    struct sc_pool pool;
    struct sc_grid grid; /* live spans */
    /* A bit for each stripe (a set of pages that share a lock) with spans (runs of protected pages)
     * that are unapplied: their system call is still to be made. */
    _Alignas(64) _Atomic uint64_t unapplied_stripes;
    /* A bit for each stripe (pages that share a lock) with unapplied spans (the system call is
     * still to be made) that may include ended ones. */
    _Atomic uint64_t ending_stripes;
    /* a bit for each stripe (pages that share a lock) in which the end of a span (a run of
     * protected pages) is due: the thread that has locked the stripe unprotects its pages */
    _Atomic uint64_t due_stripes;
    /* how many spans (runs of protected pages) have a system call still to be made, or refused by
     * Linux */
    _Atomic uint32_t unapplied_count;
    /* how many changes are due: a thread that has locked their stripe (pages that share a lock)
     * makes the system calls */
    _Atomic uint32_t due;
    /* A list of ended spans (runs of protected pages) whose system call was made without the
     * tracker's lock. Their records are returned to the pool later. */
    _Atomic uint32_t applied;
    /* For reused operations: if their pages were chosen before this time, they are chosen again, as
     * the handler of SIGSEGV may have been replaced since. */
    _Atomic uint64_t doubted_ticks;
    /* how many spans (runs of protected pages) are live, or ended with pages that may still be
     * protected */
    _Atomic uint32_t busy;
    _Atomic uint32_t begun; /* how many spans (runs of protected pages) ever began; wraps round */
    uint32_t live;          /* how many spans are live: begun, and not ended */
    /* how many spans (runs of protected pages) forbid reading: live ones, and ended ones whose
     * system call is unapplied */
    uint32_t unreadable;
    uint32_t unreadable_unapplied; /* how many of these have a system call still to be made */
    /* for each stripe (pages that share a lock): a list of unapplied spans (runs of protected
     * pages), whose system call is still to be made */
    _Alignas(64) uint32_t unapplied[SC_SPANS_STRIPES];
    /* For each stripe (pages that share a lock): a list of ended spans (runs of protected pages)
     * that Linux has refused to unprotect. */
    _Atomic uint32_t refused[SC_SPANS_STRIPES];
    /* For each stripe (pages that share a lock): the streams of spans (runs of protected pages)
     * that have ended and whose pages are still to be unprotected, as bits (sc_spans_stream_bit).
     */
    _Atomic uint64_t ending_streams[SC_SPANS_STRIPES];
    /* For each stripe (pages that share a lock): the system call for a span (a run of protected
     * pages) that began, which the thread makes that has locked the stripe; size 0: none. */
    struct sc_access_change due_begun[SC_SPANS_STRIPES];
    /* For each stripe (pages that share a lock): a list of ended spans (runs of protected pages)
     * whose pages the thread unprotects that has locked the stripe. */
    _Atomic uint32_t due_ended[SC_SPANS_STRIPES];
    /* For each stripe (pages that share a lock): the streams of the spans (runs of protected pages)
     * in due_ended, as bits (sc_spans_stream_bit). */
    _Atomic uint64_t due_streams[SC_SPANS_STRIPES];
    /* For each bit of streams (sc_spans_stream_bit): the stripes (sets of pages that share a lock)
     * with live spans (runs of protected pages) of these streams, as bits; a hint, by which a
     * thread locks stripes before it ends spans. */
    _Atomic uint64_t stream_stripes[64];
    struct sc_blocks ever;            /* blocks of pages that were ever protected */
    _Alignas(64) uintptr_t page_mask; /* page size - 1 */
    /* Where the memory starts whose areas may have other stripes (locks) than 0. */
    _Atomic uintptr_t striped_start;
    _Atomic size_t striped_bytes;
    _Atomic uint8_t stripes[SC_SPANS_AREAS_MAX];
};

/* Returns the pages that the interval overlaps; for an empty interval within a page: that page.
 * Lock-free. */
static inline struct sc_pages sc_spans_pages(const struct sc_spans *spans, uintptr_t address,
                                             size_t size_bytes)
{
    return sc_pages_around(address, size_bytes, spans->page_mask);
}

/* Returns the page's stripe (pages that share a lock): the set of pages with which it shares a
 * lock. Lock-free. */
static inline unsigned sc_spans_stripe(const struct sc_spans *spans, uintptr_t address)
{
    size_t bytes = atomic_load_explicit(&spans->striped_bytes, memory_order_acquire);
    uintptr_t offset = address - atomic_load_explicit(&spans->striped_start, memory_order_relaxed);
    return offset < bytes ? atomic_load_explicit(&spans->stripes[offset / SC_SPANS_AREA_BYTES],
                                                 memory_order_acquire)
                          : 0;
}

/* Stripes (a bit each) in which the calling thread has left spans (runs of protected pages) whose
 * system call is still to be made. */
extern __thread uint64_t sc_spans_changed_stripes
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Stripes (a bit each) that the calling thread has locked. */
extern __thread uint64_t sc_spans_locked_stripes
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

int sc_spans_init(struct sc_spans *spans); /* 0 or -ENOMEM */

/* Returns the stripe (the lock) meant for the area of the address, whether the area has moved there
 * yet or not. Lock-free. */
unsigned sc_spans_home_stripe(const struct sc_spans *spans, uintptr_t address);

/* Moves the area of the address to the stripe (pages that share a lock) meant for it. The caller
 * holds the locks of both stripes. False: there is a span (a run of protected pages) in the area,
 * and nothing was changed. */
bool sc_spans_move_area(struct sc_spans *spans, uintptr_t address);

/* Returns the stripes (a bit each) in which spans (runs of protected pages) of these streams have
 * ended and their pages have still to be unprotected. Lock-free. */
uint64_t sc_spans_stripes_ending(const struct sc_spans *spans, uint64_t stream_bits);

/* The operation that a span (a run of protected pages) is for, and its stream. */
struct sc_span_owner {
    uint32_t op;
    uint32_t stream;
};

/* Adds live spans (runs of protected pages) over all pages that the interval overlaps, one for each
 * stripe (pages that share a lock), in front of the operation's span `next` (0: none). Returns the
 * first of the operation's spans. If memory is used up, spans are left out. */
uint32_t sc_spans_add(struct sc_spans *spans, struct sc_span_owner owner, uintptr_t address,
                      size_t size_bytes, enum sc_access access, uint32_t next);

/* Ends a span (a run of protected pages) and those after it in its operation's list: their pages
 * are to be accessible again. */
void sc_spans_end(struct sc_spans *spans, uint32_t span);

/* Removes the pages that the interval overlaps from an operation's spans (runs of protected pages),
 * so that they are no longer protected for it. `first`: the operation's first span. Returns its
 * first span afterwards. */
uint32_t sc_spans_cut(struct sc_spans *spans, uint32_t first, uintptr_t address, size_t size_bytes);

/* Goes on with the next of the stripe's spans (runs of protected pages) whose system call is still
 * to be made (unapplied), or with the next part of one. *change: the system call that the caller
 * must make before it calls this again; size 0: none. False: no span is left. A span counts in
 * unapplied_count until the call after its last change. */
bool sc_spans_apply(struct sc_spans *spans, unsigned stripe, struct sc_access_change *change);

/* Records that the system call of a change has failed; to be called before anything else changes.
 * If the change was to protect pages, returns the operation, whose spans (runs of protected pages)
 * the caller must end. If it was to unprotect pages, returns 0: the span is kept as refused, and
 * still counts as unapplied. */
uint32_t sc_spans_refuse(struct sc_spans *spans, const struct sc_access_change *change);
/* Makes the stripe's refused spans (Linux did not unprotect their pages) unapplied again, so that
 * the system calls are tried once more. Returns whether there were any. */
bool sc_spans_retry(struct sc_spans *spans, unsigned stripe);

/* Has the stripe (pages that share a lock) spans (runs of protected pages) whose pages Linux has
 * refused to unprotect? Lock-free, and exact for the thread that has locked the stripe. */
static inline bool sc_spans_has_refused(const struct sc_spans *spans, unsigned stripe)
{
    return atomic_load_explicit(&spans->refused[stripe], memory_order_relaxed) != 0;
}

/* Stores the next system call that the caller, which has locked the stripe (pages that share a
 * lock), has to make for spans (runs of protected pages) that began or ended there. False: nothing
 * is due. Lock-free. */
bool sc_spans_next_due(struct sc_spans *spans, unsigned stripe, struct sc_access_change *change);
/* Records that the system call of sc_spans_next_due was made. Lock-free. */
void sc_spans_note_applied(struct sc_spans *spans, unsigned stripe,
                           const struct sc_access_change *change);
/* Records that the system call of sc_spans_next_due has failed. True: it was to unprotect pages,
 * and the spans (runs of protected pages) are now unapplied like others. False: it was to protect
 * pages, and sc_spans_refuse is to be called. */
bool sc_spans_postpone(struct sc_spans *spans, unsigned stripe,
                       const struct sc_access_change *change);

/* Is a thread that has locked a stripe (pages that share a lock) still to make a system call there?
 * Lock-free. */
static inline bool sc_spans_any_due(const struct sc_spans *spans)
{
    return atomic_load_explicit(&spans->due, memory_order_acquire) != 0;
}

/* May a system call be still to be made: by anybody or (`also_due`) by the thread that has locked a
 * stripe (pages that share a lock)? */
static inline bool sc_spans_may_be_unapplied(const struct sc_spans *spans, bool also_due)
{
    return atomic_load_explicit(&spans->unapplied_count, memory_order_acquire) != 0 ||
           (also_due && sc_spans_any_due(spans));
}

/* Returns the least access that live spans (runs of protected pages) allow on the page of the
 * address. */
enum sc_access sc_spans_access(struct sc_spans *spans, uintptr_t address);

/* May a page of the interval be unreadable because of a span (a run of protected pages), live or
 * ended with its pages not unprotected yet? The inline function is the one to call: it calls the
 * other one if it cannot decide. */
bool sc_spans_may_forbid_reading_some(struct sc_spans *spans, uintptr_t address, size_t size_bytes);
static inline bool sc_spans_may_forbid_reading(struct sc_spans *spans, uintptr_t address,
                                               size_t size_bytes);

/* May the page be protected because of a span (a run of protected pages), live or ended with its
 * pages not unprotected yet? If not, and no thread is making system calls, the page has the access
 * that the program gave it. */
bool sc_spans_cover(struct sc_spans *spans, uintptr_t address);

/* May a page of the interval still be protected because of a span (a run of protected pages), live
 * or not? Walks all records. Lock-free, so a signal handler that has interrupted the owner of the
 * lock may call it. */
bool sc_spans_may_protect(struct sc_spans *spans, uintptr_t address, size_t size_bytes);

/* Returns how many spans (runs of protected pages) have begun. While this number stays the same, no
 * further page becomes protected. Lock-free. */
static inline uint32_t sc_spans_begun(const struct sc_spans *spans)
{
    return atomic_load(&spans->begun);
}

/* Stores in *change the pages of the next span (a run of protected pages) that may still be
 * protected, in a forked child. `*span` is 0 at first. False: there are no more. Pages that were
 * unprotected are not returned again. Lock-free, although other threads may have been in the midst
 * of a change when the process forked: a page is in a span from before it is protected until after
 * it was unprotected. */
bool sc_spans_inherited(struct sc_spans *spans, uint32_t *span, struct sc_access_change *change);
/* Records in a forked child that the span's pages were unprotected. */
void sc_spans_note_inherited_unprotected(struct sc_spans *spans, uint32_t span);
/* Forgets all spans (runs of protected pages), after all pages were unprotected in a forked child.
 */
void sc_spans_forget(struct sc_spans *spans);

static inline bool sc_spans_may_forbid_reading(struct sc_spans *spans, uintptr_t address,
                                               size_t size_bytes)
{
    return (spans->unreadable != 0 || sc_spans_any_due(spans)) &&
           sc_spans_may_forbid_reading_some(spans, address, size_bytes);
}

static inline struct sc_span *sc_spans_at(struct sc_spans *spans, uint32_t span)
{
    return sc_pool_at(&spans->pool, span);
}

static inline uintptr_t sc_span_start(const struct sc_span *span)
{
    return atomic_load_explicit(&span->node.address, memory_order_relaxed);
}

static inline uintptr_t sc_span_end(const struct sc_span *span)
{
    return sc_span_start(span) + atomic_load_explicit(&span->node.size_bytes, memory_order_relaxed);
}

#endif

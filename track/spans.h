/* Keeps which pages are to be protected, and for which operation, and what the kernel has still to
 * be told of that.
 *
 * A span is a run of pages that one operation wants protected. What the host may do with a page is
 * the least that any live span on the page allows. Spans come and go with operations. Each change
 * leaves the span unapplied: the kernel has still to be told. Applying the span tells the caller
 * which pages to give which access.
 *
 * Deciding and telling the kernel are apart, so that the kernel is told without the tracker's lock.
 * The caller takes each step under a lock of its own, and tells the kernel before the next step.
 *
 * Pages lie in stripes. What is unapplied in one stripe is applied without regard to the others,
 * under a lock of that stripe. No span reaches from one stripe into another: an interval has a span
 * for each stripe that it lies in. Pages change their stripe only while no span is there.
 *
 * A thread may take the locks of some stripes before it takes the owner's lock: it attends these
 * stripes. A simple span that begins or ends there is then due instead of unapplied. The thread
 * tells the kernel of what is due after it has given back the owner's lock, and before it gives
 * back the stripes' locks. So it takes the owner's lock once, and not three times. Whoever has a
 * stripe's lock finds that the kernel was told of everything that is applied, as ever.
 *
 * Locks: every function needs the owner's lock, except those that say "lock-free". */
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
    uint32_t next;            /* the next span of the same operation */
    uint32_t unapplied_next;  /* in one of the lists of struct sc_spans */
    enum sc_access access;
    bool live;
    bool unapplied;
    /* in this span's time its pages may be protected: from its beginning until its end is
     * applied */
    _Atomic bool used;
    _Atomic uint32_t applied_next;
    uintptr_t applied_to; /* the kernel was told of the pages before this one */
};

/* All spans. The fields that each operation changes lie in one cache line, apart from those that
 * threads only read. */
struct sc_spans {
    struct sc_pool pool;
    struct sc_grid grid; /* live spans */
    _Alignas(64) _Atomic uint64_t
        unapplied_stripes; /* a bit for each stripe with any of `unapplied` */
    /* A bit for each stripe with unapplied spans of which some may have ended. */
    _Atomic uint64_t ending_stripes;
    _Atomic uint64_t due_stripes;     /* a bit for each stripe with any of `due_ended` */
    _Atomic uint32_t unapplied_count; /* also of spans that were set aside (refused) */
    _Atomic uint32_t due;             /* how many changes are due */
    _Atomic uint32_t applied; /* a list of ended spans of which the kernel was told; their records
                              go back to the pool */
    /* Operations whose pages were chosen before this time choose them once more when they are
     * issued again: SIGSEGV was in doubt since. */
    _Atomic uint64_t doubted_ticks;
    _Atomic uint32_t busy;         /* how many spans are live, or ended and unapplied */
    _Atomic uint32_t begun;        /* how many spans ever began; wraps round */
    uint32_t live;                 /* how many spans are live */
    uint32_t unreadable;           /* spans that forbid to read, until their end is applied */
    uint32_t unreadable_unapplied; /* how many of these are unapplied */
    _Alignas(64) uint32_t unapplied[SC_SPANS_STRIPES]; /* lists of unapplied spans */
    /* For each stripe: a list of ended spans whose pages the kernel has refused to unprotect. */
    _Atomic uint32_t refused[SC_SPANS_STRIPES];
    /* Streams of unapplied spans that have ended (sc_spans_stream_bit). */
    _Atomic uint64_t ending_streams[SC_SPANS_STRIPES];
    /* for each stripe: the change that is due because a span began; of no bytes: none */
    struct sc_access_change due_begun[SC_SPANS_STRIPES];
    _Atomic uint32_t due_ended[SC_SPANS_STRIPES]; /* lists of ended spans that are due */
    /* Streams of spans in due_ended (sc_spans_stream_bit). */
    _Atomic uint64_t due_streams[SC_SPANS_STRIPES];
    /* The stripes where spans of streams with this bit live; a hint. */
    _Atomic uint64_t stream_stripes[64];
    struct sc_blocks ever;            /* blocks of pages that were ever protected */
    _Alignas(64) uintptr_t page_mask; /* page size - 1 */
    /* where the memory starts whose areas may have other stripes than 0 */
    _Atomic uintptr_t striped_start;
    _Atomic size_t striped_bytes;
    _Atomic uint8_t stripes[SC_SPANS_AREAS_MAX];
};

/* The pages that the interval touches; for an empty interval within a page: that page. Needs no
 * lock. */
static inline struct sc_pages sc_spans_pages(const struct sc_spans *spans, uintptr_t address,
                                             size_t size_bytes)
{
    return sc_pages_around(address, size_bytes, spans->page_mask);
}

/* The stripe that the page is in. Needs no lock. */
static inline unsigned sc_spans_stripe(const struct sc_spans *spans, uintptr_t address)
{
    size_t bytes = atomic_load_explicit(&spans->striped_bytes, memory_order_acquire);
    uintptr_t offset = address - atomic_load_explicit(&spans->striped_start, memory_order_relaxed);
    return offset < bytes ? atomic_load_explicit(&spans->stripes[offset / SC_SPANS_AREA_BYTES],
                                                 memory_order_acquire)
                          : 0;
}

/* The stripes (a bit each) in which the calling thread has left spans unapplied. */
extern __thread uint64_t sc_spans_changed_stripes
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* A bit for each stripe that the calling thread attends. */
extern __thread uint64_t sc_spans_locked_stripes
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

int sc_spans_init(struct sc_spans *spans); /* 0 or -ENOMEM */

/* The stripe that belongs to the area of the address, whether the area has it yet or not. Needs no
 * lock. */
unsigned sc_spans_home_stripe(const struct sc_spans *spans, uintptr_t address);

/* Moves the area of the address into its own stripe. False: there is a span in the area, and
 * nothing was changed. The caller has the locks of the area's old and new stripe. */
bool sc_spans_move_area(struct sc_spans *spans, uintptr_t address);

/* A bit for each stripe in which spans of these streams have ended that are still unapplied or due.
 * Lock-free. */
uint64_t sc_spans_stripes_ending(const struct sc_spans *spans, uint64_t stream_bits);

/* Who a span is for. */
struct sc_span_owner {
    uint32_t op;
    uint32_t stream;
};

/* Adds live spans over all pages that the interval touches, one for each stripe, in front of the
 * operation's span `next` (0: none). Returns the first of its spans. Without memory spans are left
 * out. */
uint32_t sc_spans_add(struct sc_spans *spans, struct sc_span_owner owner, uintptr_t address,
                      size_t size_bytes, enum sc_access access, uint32_t next);

/* Ends a span and those behind it in its operation's list. */
void sc_spans_end(struct sc_spans *spans, uint32_t span);

/* Lets go of the pages that the interval touches in an operation's spans; other pages stay
 * protected. `first`: the operation's first span. Returns its first span afterwards. */
uint32_t sc_spans_cut(struct sc_spans *spans, uint32_t first, uintptr_t address, size_t size_bytes);

/* Applies the next of the stripe's unapplied spans. *change: what the kernel is to be told before
 * the next call of this; of no bytes: nothing. False: no span is unapplied. A span stays counted in
 * unapplied_count until the call after its last change. */
bool sc_spans_apply(struct sc_spans *spans, unsigned stripe, struct sc_access_change *change);

/* The kernel has refused the change; to be said before the next step. If pages were to be
 * protected, returns the operation, whose spans have to end. If pages were to be let go, returns 0:
 * the span is set aside, and stays counted as unapplied. */
uint32_t sc_spans_refuse(struct sc_spans *spans, const struct sc_access_change *change);
/* Makes the spans unapplied once more whose pages the kernel has refused to unprotect. Returns
 * whether there were any. */
bool sc_spans_retry(struct sc_spans *spans, unsigned stripe);

/* Are there spans that were set aside? Lock-free, and exact for the thread that tells the kernel of
 * the stripe's pages. */
static inline bool sc_spans_has_refused(const struct sc_spans *spans, unsigned stripe)
{
    return atomic_load_explicit(&spans->refused[stripe], memory_order_relaxed) != 0;
}

/* Stores the next change that is due in the stripe. The caller attends the stripe, and still has
 * its lock. False: nothing is due. Lock-free. */
bool sc_spans_next_due(struct sc_spans *spans, unsigned stripe, struct sc_access_change *change);
/* The kernel was told of the change, which is no longer due. Lock-free. */
void sc_spans_note_applied(struct sc_spans *spans, unsigned stripe,
                           const struct sc_access_change *change);
/* The kernel has refused the change. True: pages were to be let go, and the spans are now unapplied
 * like others. False: pages were to be protected, and sc_spans_refuse is to be called. */
bool sc_spans_postpone(struct sc_spans *spans, unsigned stripe,
                       const struct sc_access_change *change);

/* Is anything due? Lock-free. */
static inline bool sc_spans_any_due(const struct sc_spans *spans)
{
    return atomic_load_explicit(&spans->due, memory_order_acquire) != 0;
}

/* May a span be unapplied? `also_due`: or anything be due? */
static inline bool sc_spans_may_be_unapplied(const struct sc_spans *spans, bool also_due)
{
    return atomic_load_explicit(&spans->unapplied_count, memory_order_acquire) != 0 ||
           (also_due && sc_spans_any_due(spans));
}

/* The least that live spans allow: on the page of the address, or on any page of the interval. */
enum sc_access sc_spans_access(struct sc_spans *spans, uintptr_t address);
enum sc_access sc_spans_least(struct sc_spans *spans, uintptr_t address, size_t size_bytes);

/* May a page of the interval be unreadable because of a span, live or ended without the kernel
 * having been told? The inline function answers most questions, and calls the other one for the
 * rest. */
bool sc_spans_may_forbid_reading_some(struct sc_spans *spans, uintptr_t address, size_t size_bytes);
static inline bool sc_spans_may_forbid_reading(struct sc_spans *spans, uintptr_t address,
                                               size_t size_bytes);

/* May the page be protected because of a span, live or ended without the kernel having been told?
 * While nobody applies changes, a page for which this is false has the access that the program gave
 * it. */
bool sc_spans_cover(struct sc_spans *spans, uintptr_t address);

/* May a page of the interval still be protected because of a span, live or not? Looks at every
 * record. Lock-free, so that a signal handler that interrupted the owner of the lock may call it.
 */
bool sc_spans_may_protect(struct sc_spans *spans, uintptr_t address, size_t size_bytes);

/* How many spans have begun: while this stays the same, no further pages become protected.
 * Lock-free. */
static inline uint32_t sc_spans_begun(const struct sc_spans *spans)
{
    return atomic_load(&spans->begun);
}

/* In the child of a fork: stores in *change the pages of the next span that may still be protected.
 * `*span` is 0 at first. False: that was all. Pages that were let go are not given again.
 * Lock-free, although other threads may have been in the midst of a change: a page has its span
 * from before mprotect protects it until after mprotect has let it go. */
bool sc_spans_inherited(struct sc_spans *spans, uint32_t *span, struct sc_access_change *change);
/* The pages of the span were let go in the child. */
void sc_spans_note_inherited_unprotected(struct sc_spans *spans, uint32_t span);
/* After all were let go in the child: forgets all spans. */
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

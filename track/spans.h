/* Which pages are protected, for the sake of which operation.
 *
 * A span is a run of pages that one operation wants protected. What the host may do with a page is
 * the least that any live span on the page allows. Spans come and go with operations. Each change
 * leaves the span unapplied. Whoever applies the span learns which pages to give which access.
 *
 * Deciding and telling the kernel are apart, so that the kernel is told without the tracker's lock.
 * The caller takes each step under a lock of its own, and tells the kernel before the next step.
 *
 * Pages lie in lanes: what is unapplied in one lane is applied without regard to the others, under
 * a lock of that lane's. No span reaches from one lane into another: an interval has a span for
 * each lane that it lies in. Pages change their lane only while no span is there.
 *
 * A thread may take the locks of some lanes before it takes the owner's: it attends them. A span
 * that begins or ends there is then due instead of unapplied, if it is simple. The thread tells the
 * kernel of what is due when it has given back the owner's lock, and before it gives back the
 * lanes'. So it takes the owner's lock once, and not three times. Whoever has the lane's lock finds
 * the kernel told of everything that is applied, as ever.
 *
 * Locks: every function needs the owner's lock, except those that say "lock-free".
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
    uint32_t op;              /* of track/inflight.h */
    uint32_t stream;          /* the operation's */
    uint32_t next;            /* of the same operation */
    uint32_t unapplied_next;
    enum sc_access access;
    bool live;
    bool unapplied;
    _Atomic bool used; /* its pages may be protected: from the first moment until it is applied */
    _Atomic uint32_t told_next;
    uintptr_t applied_to; /* pages before this one have been told of */
};

/* What each operation changes lies in one line, and apart from what threads only read. */
struct sc_spans {
    struct sc_pool pool;
    struct sc_grid grid;                           /* live spans */
    _Alignas(64) _Atomic uint64_t unapplied_lanes; /* a bit for each lane with any of `unapplied` */
    _Atomic uint64_t ending_lanes; /* and where there may be spans that have ended */
    _Atomic uint64_t due_lanes;    /* a bit for each lane with any of `due_ended` */
    _Atomic uint32_t unapplied_count;
    _Atomic uint32_t due;   /* how many */
    _Atomic uint32_t told;  /* a list: spans that have ended, and whose records go back */
    _Atomic uint32_t busy;  /* live and unapplied spans */
    _Atomic uint32_t begun; /* spans that ever were; goes round */
    uint32_t live;
    uint32_t hiding; /* those of them that forbid to read; how many are unapplied */
    uint32_t hiding_unapplied;
    _Alignas(64) uint32_t unapplied[SC_SPANS_LANES]; /* lists of spans */
    _Atomic uint32_t
        refused[SC_SPANS_LANES]; /* the same, of those that the kernel would not let go of */
    _Atomic uint64_t ending_streams[SC_SPANS_LANES];   /* whose (sc_spans_stream_bit) */
    struct sc_access_change due_begun[SC_SPANS_LANES]; /* of no bytes: nothing */
    _Atomic uint32_t due_ended[SC_SPANS_LANES];        /* lists of spans */
    _Atomic uint64_t due_streams[SC_SPANS_LANES];      /* whose (sc_spans_stream_bit) */
    _Atomic uint64_t stream_lanes[64]; /* where spans live, by the bit of their stream; about */
    struct sc_blocks ever;             /* those that were ever protected */
    _Alignas(64) uintptr_t page_mask;  /* page size - 1 */
    _Atomic uintptr_t laned_start;     /* the memory whose areas may have lanes of their own */
    _Atomic size_t laned_bytes;
    _Atomic uint8_t lanes[SC_SPANS_AREAS_MAX];
};

/* The pages that the interval touches; of no bytes within a page: that page. Needs no lock. */
static inline struct sc_pages sc_spans_pages(const struct sc_spans *spans, uintptr_t address,
                                             size_t size_bytes)
{
    return sc_pages_around(address, size_bytes, spans->page_mask);
}

/* The lane that the page is in. Needs no lock. */
static inline unsigned sc_spans_lane(const struct sc_spans *spans, uintptr_t address)
{
    size_t bytes = atomic_load_explicit(&spans->laned_bytes, memory_order_acquire);
    uintptr_t offset = address - atomic_load_explicit(&spans->laned_start, memory_order_relaxed);
    return offset < bytes ? atomic_load_explicit(&spans->lanes[offset / SC_SPANS_LANE_BYTES],
                                                 memory_order_acquire)
                          : 0;
}

/* The lanes in which the calling thread has left something unapplied, and not applied it yet. */
extern __thread uint64_t sc_spans_own_lanes
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The lanes that the calling thread attends. */
extern __thread uint64_t sc_spans_attended
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

int sc_spans_init(struct sc_spans *spans); /* 0 or -ENOMEM */

/* The lane that the area of the address gets, or has. Needs no lock. */
unsigned sc_spans_own_lane(const struct sc_spans *spans, uintptr_t address);

/* Gives it that lane. False: there is a span, and nothing is changed. The caller has the locks of
 * the lane from which it comes and of the one into which it goes. */
bool sc_spans_move_area(struct sc_spans *spans, uintptr_t address);

/* The lanes in which spans of these streams have ended, and are unapplied or due. Lock-free. */
uint64_t sc_spans_lanes_ending(const struct sc_spans *spans, uint64_t stream_bits);

/* Who a span is for. */
struct sc_span_owner {
    uint32_t op;
    uint32_t stream;
};

/* Adds live spans of all pages that the interval touches, one for each lane, before the span `next`
 * of the same operation; returns the first of them, or `next` if there can be no more. */
uint32_t sc_spans_add(struct sc_spans *spans, struct sc_span_owner owner, uintptr_t address,
                      size_t size_bytes, enum sc_access access, uint32_t next);

/* Ends a span and those after it. */
void sc_spans_end(struct sc_spans *spans, uint32_t span);

/* Lets go of the pages that the interval touches in one live span; the rest stays protected.
 * Returns the operation's spans anew, given the first of them. */
uint32_t sc_spans_cut(struct sc_spans *spans, uint32_t first, uintptr_t address, size_t size_bytes);

/* Takes a step in applying what is unapplied in the lane. False: nothing is. The span stays counted
 * in unapplied_count until the step after the last. */
bool sc_spans_apply(struct sc_spans *spans, unsigned lane, struct sc_access_change *change);

/* The kernel has refused the change; said before the next step. Returns the operation for which the
 * pages were to be protected: its spans have to end. 0: the pages were to be let go, and the span
 * stays counted as unapplied. sc_spans_retry has such spans applied once more, and says whether
 * there were any. */
uint32_t sc_spans_refuse(struct sc_spans *spans, const struct sc_access_change *change);
bool sc_spans_retry(struct sc_spans *spans, unsigned lane);

/* Are there such spans? Lock-free: who tells the kernel of the lane's pages knows. */
static inline bool sc_spans_has_refused(const struct sc_spans *spans, unsigned lane)
{
    return atomic_load_explicit(&spans->refused[lane], memory_order_relaxed) != 0;
}

/* What is due in a lane: what the kernel is to be told next, by who has attended the lane and still
 * has its lock. False: nothing is. Lock-free. */
bool sc_spans_next_due(struct sc_spans *spans, unsigned lane, struct sc_access_change *change);
/* The kernel was told. Lock-free. */
void sc_spans_told(struct sc_spans *spans, unsigned lane, const struct sc_access_change *change);
/* It has refused. True: to let go of pages, and the spans are unapplied as any other. False: to
 * protect some, and that is to be said by sc_spans_refuse. */
bool sc_spans_postpone(struct sc_spans *spans, unsigned lane,
                       const struct sc_access_change *change);

/* Is anything due? Lock-free. */
static inline bool sc_spans_any_due(const struct sc_spans *spans)
{
    return atomic_load_explicit(&spans->due, memory_order_acquire) != 0;
}

/* Is there a page whose access is to change? `also_due`: or one for the sake of what has ended on a
 * stream? */
static inline bool sc_spans_may_be_unapplied(const struct sc_spans *spans, bool also_due)
{
    return atomic_load_explicit(&spans->unapplied_count, memory_order_acquire) != 0 ||
           (also_due && sc_spans_any_due(spans));
}

/* The least that a live span on the page allows; or on any page that the interval touches. */
enum sc_access sc_spans_access(struct sc_spans *spans, uintptr_t address);
enum sc_access sc_spans_least(struct sc_spans *spans, uintptr_t address, size_t size_bytes);

/* Could a page there be inaccessible for the sake of a span, or still be, with the kernel not yet
 * told that it was let go? */
bool sc_spans_may_hide_some(struct sc_spans *spans, uintptr_t address, size_t size_bytes);
static inline bool sc_spans_may_hide(struct sc_spans *spans, uintptr_t address, size_t size_bytes);

/* May the page be protected for the sake of a span? The span lives, or the kernel has not been told
 * of its end. All of this keeps an invariant: while nobody applies, a page that no span covers is
 * as the program has made it. */
bool sc_spans_cover(struct sc_spans *spans, uintptr_t address);

/* Is there a record of a span, live or not, for whose sake a page of the interval may still be
 * protected? Looks at every record. Lock-free: also for a signal handler that interrupted the owner
 * of the lock. */
bool sc_spans_may_protect(struct sc_spans *spans, uintptr_t address, size_t size_bytes);

/* Changes when a span begins: until then no more pages are protected. Lock-free. */
static inline uint32_t sc_spans_begun(const struct sc_spans *spans)
{
    return atomic_load(&spans->begun);
}

/* In the child of a fork: gives the pages of one span after another. `*span` is 0 at first. False:
 * that was all. Pages that were let go are not given again. Lock-free, though other threads may
 * have been in the midst of a change: a protected page has its span from before mprotect protects
 * it until mprotect has let it go. */
bool sc_spans_inherited(struct sc_spans *spans, uint32_t *span, struct sc_access_change *change);
void sc_spans_let_go_inherited(struct sc_spans *spans, uint32_t span);
/* After that: nothing counts as guarded any more. */
void sc_spans_forget(struct sc_spans *spans);

static inline bool sc_spans_may_hide(struct sc_spans *spans, uintptr_t address, size_t size_bytes)
{
    return (spans->hiding != 0 || sc_spans_any_due(spans)) &&
           sc_spans_may_hide_some(spans, address, size_bytes);
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

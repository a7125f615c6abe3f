#include "common/checks.h"
#include "common/trace.h"
#include "track/consistency.h"
#include "track/spans_internal.h"

#include "common/poison.h"

/* A piece of the span `of` (a run of pages that an operation wants protected): the pages from `at`
 * to `until`, which have the same live spans on them. Or they are `overridden`: another span makes
 * any system call needless, whatever else is on them. */
struct piece {
    struct sc_spans *spans;
    const struct sc_span *of;
    bool overridden;
    uintptr_t at;
    uintptr_t until;
    /* the access that the pages are to have: the least that a live span allows */
    enum sc_access access;
    /* a span whose system call was made has this access, so that the pages have it already */
    bool applied;
};

/* Makes the other span (a run of protected pages) any system call for the piece needless? It allows
 * no more than the piece's span, so the end of that changes nothing; if its own system call was
 * made, nor does the beginning. On a page with a thousand spans the first one mostly decides. */
static bool overrides_piece(const struct sc_span *span, const struct piece *piece)
{
    return span->access >= piece->of->access && (!piece->of->live || !span->unapplied);
}

/* Cuts the piece where the other span (a run of protected pages) begins or ends, and takes that
 * span's access into account. Returns false if no further span matters, as this one makes a system
 * call needless. */
static bool narrow_piece(struct piece *piece, const struct sc_span *span)
{
    if (sc_span_start(span) > piece->at) {
        if (sc_span_start(span) < piece->until)
            piece->until = sc_span_start(span);
        return true;
    }
    if (sc_span_end(span) < piece->until)
        piece->until = sc_span_end(span);
    piece->overridden = overrides_piece(span, piece);
    if (span->access > piece->access)
        piece->applied = false;
    if (span->access >= piece->access) {
        piece->access = span->access;
        piece->applied |= !span->unapplied;
    }
    return !piece->overridden;
}

/* Returns the next piece of the span (a run of protected pages) for which no system call was
 * considered yet. If no other span lives, that is the whole rest. */
static struct piece next_piece(struct sc_spans *spans, const struct sc_span *span)
{
    struct piece piece = {
        .spans = spans,
        .of = span,
        .at = span->applied_to,
        .until = sc_span_end(span),
        .access = SC_ACCESS_ALL,
    };
    if (spans->live == (uint32_t)span->live) /* no other span lives */
        piece.access = span->live ? span->access : SC_ACCESS_ALL;
    else
        SC_GRID_EACH (walk, &spans->grid, piece.at, piece.until - piece.at)
            if (!narrow_piece(&piece, sc_spans_at(spans, walk.id)))
                break;
    return piece;
}

/* Is a system call needed for the piece? For a new span (a run of protected pages), if the pages
 * are to have its access and have not got it already by another span. For an ended one, if what is
 * left on the pages allows more: if not, another span has the pages protected, and its own end will
 * be seen to. */
static bool must_apply(const struct sc_span *span, const struct piece *piece)
{
    if (piece->overridden)
        return false;
    if (span->live)
        return piece->access == span->access && !piece->applied;
    return piece->access < span->access;
}

/* Removes the span (a run of protected pages) from its stripe's list of those whose system call is
 * outstanding. */
static void unlink_unapplied(struct sc_spans *spans, uint32_t id)
{
    uint32_t *link = &spans->unapplied[sc_spans_stripe_of(spans, sc_spans_at(spans, id))];
    while (*link != id)
        link = &sc_spans_at(spans, *link)->unapplied_next;
    *link = sc_spans_at(spans, id)->unapplied_next;
}

/* The span's system call is not outstanding any more: none is needed, it was made, or the thread
 * that has locked the stripe (pages that share a lock) makes it. Corrects the counts by which
 * readers see that nothing is left to do. */
static void set_applied(struct sc_spans *spans, uint32_t id)
{
    struct sc_span *span = sc_spans_at(spans, id);
    SC_ASSERT(span->unapplied);
    unlink_unapplied(spans, id);
    sc_spans_clear_stripe(spans, sc_spans_stripe_of(spans, span));
    span->unapplied = false;
    sc_spans_add_to(&spans->unapplied_count, -1);
    sc_spans_count_unreadable(&spans->unreadable_unapplied, span, -1);
    if (!span->live)
        sc_spans_count_unreadable(&spans->unreadable, span, -1);
}

/* The span's pages are no longer protected. Called without the lock; the record stays until
 * somebody with the lock returns it to the pool. */
static void set_unused(struct sc_spans *spans, uint32_t id)
{
    atomic_store_explicit(&sc_spans_at(spans, id)->used, false, memory_order_release);
    atomic_fetch_sub_explicit(&spans->busy, 1, memory_order_relaxed);
}

/* All pieces of the span (a run of protected pages) are seen to. One that lives stays, to be ended;
 * the record of one that has ended is freed. */
static void finish_applying(struct sc_spans *spans, uint32_t id)
{
    set_applied(spans, id);
    if (sc_spans_at(spans, id)->live)
        return;
    set_unused(spans, id);
    sc_pool_release(&spans->pool, id);
}

/* Are all pages of the span (a run of protected pages) simply to be unprotected? The caller joins
 * such spans to one system call. Not if other spans are on some pages, or some were unprotected
 * already. */
static bool is_to_be_unprotected(struct sc_spans *spans, const struct sc_span *span)
{
    if (span->live || span->applied_to != sc_span_start(span))
        return false;
    struct piece piece = next_piece(spans, span);
    return piece.until == sc_span_end(span) && piece.access == SC_ACCESS_ALL &&
           must_apply(span, &piece);
}

/* Extends the system call, which unprotects pages, over adjoining pages of the next spans (runs of
 * protected pages) in the list: operations on neighbouring pages often end together. Those spans
 * come to their turn, and have nothing left to do. */
static void unprotect_with_neighbours(struct sc_spans *spans, struct sc_access_change *change)
{
    uint32_t id = sc_spans_at(spans, change->span)->unapplied_next;
    for (; id; id = sc_spans_at(spans, id)->unapplied_next) {
        struct sc_span *span = sc_spans_at(spans, id);
        uintptr_t change_end = change->address + change->size_bytes;
        bool adjoins = sc_span_end(span) == change->address || sc_span_start(span) == change_end;
        if (!adjoins || !is_to_be_unprotected(spans, span))
            return;
        if (sc_span_end(span) == change->address)
            change->address = sc_span_start(span);
        change->size_bytes += sc_span_end(span) - sc_span_start(span);
        span->applied_to = sc_span_end(span);
    }
}

/* Returns the next outstanding system call of the stripe (pages that share a lock), for the first
 * piece of the first span (a run of protected pages) in its list. If the span has no piece left it
 * leaves the list, and its record is freed if it has ended. The caller makes the call and comes
 * again. */
bool sc_spans_apply(struct sc_spans *spans, unsigned stripe, struct sc_access_change *change)
{
    SC_ASSERT_GUARDED(&spans->pool);
    uint32_t id = spans->unapplied[stripe];
    change->size_bytes = 0;
    if (!id)
        return false;
    struct sc_span *span = sc_spans_at(spans, id);
    if (span->applied_to >= sc_span_end(span)) {
        finish_applying(spans, id);
        return true;
    }
    struct piece piece = next_piece(spans, span);
    span->applied_to = piece.until;
    if (must_apply(span, &piece))
        *change = (struct sc_access_change){piece.at, piece.until - piece.at, piece.access, id};
    if (change->size_bytes && !span->live && piece.access == SC_ACCESS_ALL)
        unprotect_with_neighbours(spans, change);
    return true;
}

/* Linux has refused to unprotect the pages: the spans (runs of protected pages) over which the call
 * was extended have to make theirs by themselves. */
static void restart_neighbours(struct sc_spans *spans, const struct sc_access_change *change)
{
    uintptr_t end = change->address + change->size_bytes;
    uint32_t first = spans->unapplied[sc_spans_stripe(spans, change->address)];
    for (uint32_t id = first; id; id = sc_spans_at(spans, id)->unapplied_next) {
        struct sc_span *span = sc_spans_at(spans, id);
        bool is_within = sc_span_start(span) >= change->address && sc_span_end(span) <= end;
        if (!span->live && is_within && span->applied_to == sc_span_end(span))
            span->applied_to = sc_span_start(span);
    }
}

/* The system call has failed (a process has a limit of mappings). If it was to protect pages, the
 * caller ends the guard of the operation, whose id is returned. If it was to unprotect them, the
 * span (a run of protected pages) moves to the list of refused ones, to be tried again: its pages
 * must not stay protected. */
uint32_t sc_spans_refuse(struct sc_spans *spans, const struct sc_access_change *change)
{
    SC_ASSERT_GUARDED(&spans->pool);
    SC_TRACE("span-refused span address bytes", change->span, change->address, change->size_bytes);
    struct sc_span *span = sc_spans_at(spans, change->span);
    if (span->live)
        return span->op;
    unlink_unapplied(spans, change->span);
    restart_neighbours(spans, change);
    span->applied_to = sc_span_start(span);
    unsigned stripe = sc_spans_stripe_of(spans, span);
    span->unapplied_next = spans->refused[stripe];
    spans->refused[stripe] = change->span;
    SC_CHECK_OF(spans->pool.live, sc_consistency_of_spans(spans));
    return 0;
}

/* Has the refused system calls of the stripe (Linux did not unprotect the pages) tried once more.
 */
bool sc_spans_retry(struct sc_spans *spans, unsigned stripe)
{
    SC_ASSERT_GUARDED(&spans->pool);
    bool any = spans->refused[stripe] != 0;
    while (spans->refused[stripe]) {
        uint32_t id = spans->refused[stripe];
        struct sc_span *span = sc_spans_at(spans, id);
        spans->refused[stripe] = span->unapplied_next;
        span->unapplied_next = spans->unapplied[stripe];
        spans->unapplied[stripe] = id;
    }
    SC_CHECK_OF(spans->pool.live, sc_consistency_of_spans(spans));
    return any;
}

/* ---- what is due ---- */

/* Has this thread locked the span's stripe (the pages that share a lock)? Then it makes the system
 * call itself, when it has released the tracker's lock. */
static bool is_stripe_locked(const struct sc_spans *spans, const struct sc_span *span)
{
    return sc_spans_locked_stripes >> sc_spans_stripe_of(spans, span) & 1;
}

/* Can one system call, for `piece`, do all that the span (a run of protected pages) needs? The span
 * has just become outstanding. If its list has a newer head, it was there before and may be done in
 * part. */
static bool is_one_call(struct sc_spans *spans, uint32_t id, struct piece *piece)
{
    const struct sc_span *span = sc_spans_at(spans, id);
    if (spans->unapplied[sc_spans_stripe_of(spans, span)] != id)
        return false;
    *piece = next_piece(spans, span);
    return piece->until == sc_span_end(span);
}

/* The span (a run of protected pages) needs no system call, or the thread that has locked the
 * stripe (pages that share a lock) makes it (it is due): nobody else is to look for it. */
static void remove_unapplied(struct sc_spans *spans, uint32_t id)
{
    unsigned stripe = sc_spans_stripe_of(spans, sc_spans_at(spans, id));
    set_applied(spans, id);
    if (!spans->unapplied[stripe])
        sc_spans_changed_stripes &= ~(UINT64_C(1) << stripe);
}

/* A span (a run of protected pages) began in a stripe (pages that share a lock) that this thread
 * has locked: keeps its system call for the thread to make. If none is needed the span is done. One
 * that needs several calls, or comes second in the stripe, is left outstanding, as others are. */
void sc_spans_begin_due(struct sc_spans *spans, uint32_t id)
{
    struct sc_span *span = sc_spans_at(spans, id);
    struct sc_access_change *begun = &spans->due_begun[sc_spans_stripe_of(spans, span)];
    struct piece piece;
    if (!is_stripe_locked(spans, span) || begun->size_bytes || !is_one_call(spans, id, &piece))
        return; /* at most one beginning is due in a stripe */
    if (must_apply(span, &piece)) {
        atomic_fetch_add(&spans->due, 1);
        *begun = (struct sc_access_change){piece.at, piece.until - piece.at, piece.access, id};
    }
    span->applied_to = piece.until;
    remove_unapplied(spans, id);
}

/* A span (a run of protected pages) ended in a stripe (pages that share a lock) that this thread
 * has locked: lists its system call for the thread to make, several together. Not if the span's own
 * beginning still waits there, if it needs several calls, or if other spans leave the pages
 * protected in part: then it stays outstanding. If no call is needed at all its record is freed. */
void sc_spans_end_due(struct sc_spans *spans, uint32_t id)
{
    struct sc_span *span = sc_spans_at(spans, id);
    unsigned stripe = sc_spans_stripe_of(spans, span);
    const struct sc_access_change *begun = &spans->due_begun[stripe];
    struct piece piece;
    if (!is_stripe_locked(spans, span) || (begun->size_bytes && begun->span == id) ||
        !is_one_call(spans, id, &piece))
        return;
    bool must_be_applied = must_apply(span, &piece);
    if (must_be_applied && piece.access != SC_ACCESS_ALL)
        return;
    if (!must_be_applied) {
        remove_unapplied(spans, id);
        set_unused(spans, id);
        sc_pool_release(&spans->pool, id);
        return;
    }
    atomic_fetch_add(&spans->due, 1);
    atomic_fetch_or_explicit(&spans->due_streams[stripe], sc_spans_stream_bit(span->stream),
                             memory_order_relaxed);
    atomic_fetch_or(&spans->due_stripes, UINT64_C(1) << stripe);
    remove_unapplied(spans, id);
    span->unapplied_next = atomic_load_explicit(&spans->due_ended[stripe], memory_order_relaxed);
    atomic_store_explicit(&spans->due_ended[stripe], id, memory_order_release);
}

/* Returns the stripes (sets of pages that share a lock) that a thread had better lock before it
 * ends operations of the stream. Some may be missing, which costs time alone. */
uint64_t sc_spans_stripes_of_stream(const struct sc_spans *spans, uint32_t stream)
{
    return atomic_load_explicit(&spans->stream_stripes[stream % 64], memory_order_relaxed);
}

/* ---- applying what is due, without the tracker's lock ---- */

/* Extends the system call, which unprotects pages, over those of the next due (left to the thread
 * that has locked the stripe) spans (runs of protected pages) in the list, as long as they adjoin.
 */
static void extend_over_neighbours(struct sc_spans *spans, struct sc_access_change *change)
{
    uint32_t id = sc_spans_at(spans, change->span)->unapplied_next;
    for (; id; id = sc_spans_at(spans, id)->unapplied_next) {
        const struct sc_span *span = sc_spans_at(spans, id);
        uintptr_t end = change->address + change->size_bytes;
        if (sc_span_end(span) == change->address)
            change->address = sc_span_start(span);
        else if (sc_span_start(span) != end)
            return;
        change->size_bytes += sc_span_end(span) - sc_span_start(span);
    }
}

/* Returns the next system call that the thread which has locked the stripe (pages that share a
 * lock) is to make. Ends come first, since the new span (a run of protected pages) may be on the
 * same pages. */
bool sc_spans_next_due(struct sc_spans *spans, unsigned stripe, struct sc_access_change *change)
{
    uint32_t id = atomic_load_explicit(&spans->due_ended[stripe], memory_order_relaxed);
    if (!id) {
        *change = spans->due_begun[stripe];
        return change->size_bytes != 0;
    }
    const struct sc_span *span = sc_spans_at(spans, id);
    *change = (struct sc_access_change){sc_span_start(span),
                                        sc_span_end(span) - sc_span_start(span), SC_ACCESS_ALL, id};
    extend_over_neighbours(spans, change);
    return true;
}

/* A due (left to the thread that has locked the stripe) system call was made or has failed: takes
 * the first span (a run of protected pages) that it covers out of the stripe's list; 0: no more. */
static uint32_t pop_due_end(struct sc_spans *spans, unsigned stripe,
                            const struct sc_access_change *change)
{
    uint32_t id = atomic_load_explicit(&spans->due_ended[stripe], memory_order_relaxed);
    if (!id || sc_span_start(sc_spans_at(spans, id)) - change->address >= change->size_bytes)
        return 0;
    const struct sc_span *span = sc_spans_at(spans, id);
    atomic_store_explicit(&spans->due_ended[stripe], span->unapplied_next, memory_order_release);
    return id;
}

/* The pages of an ended span (a run of protected pages) were unprotected, without the tracker's
 * lock. Lists its record, for a thread that has the lock to return it to the pool. */
static void set_applied_without_lock(struct sc_spans *spans, uint32_t id)
{
    struct sc_span *span = sc_spans_at(spans, id);
    set_unused(spans, id);
    atomic_fetch_sub(&spans->due, 1);
    uint32_t told = atomic_load_explicit(&spans->applied, memory_order_relaxed);
    do
        atomic_store_explicit(&span->applied_next, told, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&spans->applied, &told, id, memory_order_release,
                                                  memory_order_relaxed));
}

/* A due (left to the thread that has locked the stripe) system call was made or has failed: if it
 * was the beginning of a span (it does not give all access), nothing is due for it any more.
 * Returns whether it was. */
static bool pop_due_beginning(struct sc_spans *spans, unsigned stripe,
                              const struct sc_access_change *change)
{
    if (change->access == SC_ACCESS_ALL)
        return false;
    spans->due_begun[stripe] = (struct sc_access_change){0};
    atomic_fetch_sub(&spans->due, 1);
    return true;
}

/* Clears the stripe's bits, by which others see that a thread has still to unprotect pages there,
 * if it has not. Nobody else adds ends: the thread has locked the stripe (pages that share a lock).
 */
static void clear_due_stripe(struct sc_spans *spans, unsigned stripe)
{
    if (atomic_load_explicit(&spans->due_ended[stripe], memory_order_relaxed))
        return;
    atomic_fetch_and(&spans->due_stripes, ~(UINT64_C(1) << stripe));
    atomic_store_explicit(&spans->due_streams[stripe], 0, memory_order_release);
}

/* The thread that has locked the stripe (pages that share a lock) has made the system call: nothing
 * is left to do for what it covered, the beginning of a span (a run of protected pages) or the ends
 * of several. */
void sc_spans_note_applied(struct sc_spans *spans, unsigned stripe,
                           const struct sc_access_change *change)
{
    if (pop_due_beginning(spans, stripe, change))
        return;
    for (uint32_t id; (id = pop_due_end(spans, stripe, change)) != 0;)
        set_applied_without_lock(spans, id);
    clear_due_stripe(spans, stripe);
}

/* The system call has failed. The ended spans (runs of protected pages) that it covered become
 * outstanding like others, to be tried later. False: it was the beginning of a span, which the
 * caller gives up. */
bool sc_spans_postpone(struct sc_spans *spans, unsigned stripe,
                       const struct sc_access_change *change)
{
    SC_ASSERT_GUARDED(&spans->pool);
    if (pop_due_beginning(spans, stripe, change))
        return false;
    for (uint32_t id; (id = pop_due_end(spans, stripe, change)) != 0;) {
        struct sc_span *span = sc_spans_at(spans, id);
        sc_spans_set_unapplied(spans, id);
        sc_spans_count_unreadable(&spans->unreadable, span, 1);
        atomic_fetch_sub(&spans->due, 1);
    }
    clear_due_stripe(spans, stripe);
    return true;
}

/* Returns records to the pool whose pages were unprotected without the lock. Takes the whole list
 * at once, as other threads add to it. */
void sc_spans_free_applied(struct sc_spans *spans)
{
    if (atomic_load_explicit(&spans->applied, memory_order_relaxed) == 0)
        return;
    uint32_t id = atomic_exchange_explicit(&spans->applied, 0, memory_order_acquire);
    while (id) {
        uint32_t next =
            atomic_load_explicit(&sc_spans_at(spans, id)->applied_next, memory_order_relaxed);
        sc_pool_release(&spans->pool, id);
        id = next;
    }
}

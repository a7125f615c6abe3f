/* What the files that make up the spans (track/spans*.c) share, and no others. */
#ifndef SC_TRACK_SPANS_INTERNAL_H
#define SC_TRACK_SPANS_INTERNAL_H

#include "track/spans.h"

/* Adds to a count that is changed under the lock only; it is atomic for readers without the lock.
 */
static inline void sc_spans_add_to(_Atomic uint32_t *count, int change)
{
    uint32_t value = atomic_load_explicit(count, memory_order_relaxed) + (uint32_t)change;
    atomic_store_explicit(count, value, memory_order_release);
}

/* Adds `change` to the count if the span forbids to read its pages. Under the lock. */
static inline void sc_spans_count_unreadable(uint32_t *count, const struct sc_span *span,
                                             int change)
{
    if (span->access == SC_ACCESS_NONE)
        *count += (uint32_t)change;
}

static inline unsigned sc_spans_stripe_of(const struct sc_spans *spans, const struct sc_span *span)
{
    return sc_spans_stripe(spans, sc_span_start(span));
}

/* Makes the span unapplied, from its first page on; also if the kernel was told of some of its
 * pages already. */
void sc_spans_set_unapplied(struct sc_spans *spans, uint32_t id);

/* If no span of the stripe is unapplied or set aside any more: takes the stripe's bits away. */
void sc_spans_clear_stripe(struct sc_spans *spans, unsigned stripe);

/* The span has just become unapplied: it began, or it ended and has left the grid. If the thread
 * attends its stripe, and the kernel is to be told of one change at most, the span becomes due
 * instead. */
void sc_spans_begin_due(struct sc_spans *spans, uint32_t id);
void sc_spans_end_due(struct sc_spans *spans, uint32_t id);

/* Gives the records of ended spans of which the kernel was told back to the pool. */
void sc_spans_free_applied(struct sc_spans *spans);

#endif

/* What the files that record which pages are to be protected (track/spans*.c) share, and no others.
 */

/* Terms (docs/glossary.md):
 *   apply: to make the system calls that bring pages into line with the spans
 *   grid: the index that finds what lies at an address
 *   span: a run of pages that one operation wants protected
 *   stripe: a set of pages that share one of the guard's locks
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_SPANS_INTERNAL_H
#define SC_TRACK_SPANS_INTERNAL_H

#include "track/spans.h"

/* Adds to a count that is changed under the tracker's lock only, and is read without it. */
static inline void sc_spans_add_to(_Atomic uint32_t *count, int change)
{
    uint32_t value = atomic_load_explicit(count, memory_order_relaxed) + (uint32_t)change;
    atomic_store_explicit(count, value, memory_order_release);
}

/* Adds `change` to the count if the span forbids reading its pages. Needs the tracker's lock. */
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

/* Makes the span unapplied (its system call is still to be made) from its first page on, even if
 * that was made for some of its pages. */
void sc_spans_set_unapplied(struct sc_spans *spans, uint32_t id);

/* Clears the stripe's bits, by which threads see that there are system calls to be made, if none of
 * its spans is unapplied or refused. */
void sc_spans_clear_stripe(struct sc_spans *spans, unsigned stripe);

/* Make the calling thread responsible for the system call of a span that has just begun, or ended
 * and left the grid (the span is due instead of unapplied). Do nothing unless the thread has locked
 * the span's stripe and one system call, or none, is enough. */
void sc_spans_begin_due(struct sc_spans *spans, uint32_t id);
void sc_spans_end_due(struct sc_spans *spans, uint32_t id);

/* Returns to the pool the records of ended spans whose system call was made without the tracker's
 * lock. */
void sc_spans_free_applied(struct sc_spans *spans);

#endif

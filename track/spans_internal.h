/* What the files that make up the spans (track/spans*.c) share, and no others. */
#ifndef SC_TRACK_SPANS_INTERNAL_H
#define SC_TRACK_SPANS_INTERNAL_H

#include "track/spans.h"

/* Changed under the lock only; atomic for those who look without it. */
static inline void sc_spans_add_to(_Atomic uint32_t *count, int change)
{
    uint32_t value = atomic_load_explicit(count, memory_order_relaxed) + (uint32_t)change;
    atomic_store_explicit(count, value, memory_order_release);
}

/* Counts how many pages' owners may keep the host from reading them; under the lock. */
static inline void sc_spans_count_hiding(uint32_t *count, const struct sc_span *span, int change)
{
    if (span->access == SC_ACCESS_NONE)
        *count += (uint32_t)change;
}

static inline unsigned sc_spans_lane_of(const struct sc_spans *spans, const struct sc_span *span)
{
    return sc_spans_lane(spans, sc_span_start(span));
}

/* From its first page on, once more if some of it has been told of already. */
void sc_spans_set_unapplied(struct sc_spans *spans, uint32_t id);

/* Nothing in the lane is unapplied any more, if so. */
void sc_spans_clear_lane(struct sc_spans *spans, unsigned lane);

/* The span has just become unapplied, since it begins, or because it has left the grid. Where its
 * lane is attended and it changes no more than one thing, it is due instead. */
void sc_spans_begin_due(struct sc_spans *spans, uint32_t id);
void sc_spans_end_due(struct sc_spans *spans, uint32_t id);

/* Records of spans that were told of go back to the pool. */
void sc_spans_collect_told(struct sc_spans *spans);

#endif

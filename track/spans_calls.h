/* Functions of the spans (track/spans.h) for callers that need not see their records. Lock-free. */

/* Terms (docs/glossary.md):
 *   span: a run of pages that one operation wants protected
 *   stripe: a set of pages that share one of the guard's locks
 */

#ifndef SC_TRACK_SPANS_CALLS_H
#define SC_TRACK_SPANS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_spans;

/* The number of stripes; a stripe is a set of pages that share a lock. Stripe 0 has all pages
 * except those of areas that were moved to another stripe. */
enum { SC_SPANS_STRIPES = 64, SC_SPANS_AREA_BYTES = 2 << 20, SC_SPANS_AREAS_MAX = 8190 };

/* Sets the memory whose areas may have other stripes (sets of pages that share a lock) than 0. An
 * area has SC_SPANS_AREA_BYTES, and the first one begins at `start`. The areas of the first
 * `striped_bytes` get their stripes at once. Called once, before there is a span. */
void sc_spans_set_stripes(struct sc_spans *spans, uintptr_t start, size_t size_bytes,
                          size_t striped_bytes);

/* Is the page in another stripe (set of pages that share a lock) than 0, the one of all other
 * memory? */
bool sc_spans_have_stripe(const struct sc_spans *spans, uintptr_t address);

/* Returns, as bits, the stripes (sets of pages that share a lock) of the interval's first and last
 * page. A thread locks these before an operation on a small interval is recorded, so that it can
 * make its changes there effective at once. */
uint64_t sc_spans_stripe_bits(const struct sc_spans *spans, uintptr_t address, size_t size_bytes);

/* Returns stripes (sets of pages that share a lock) in which pages are protected for operations of
 * the stream; a hint that may miss some. */
uint64_t sc_spans_stripes_of_stream(const struct sc_spans *spans, uint32_t stream);

/* The stream's bit in sets of streams, which have 64 bits. Several streams share a bit, so a set
 * may mean more streams than were put in. */
static inline uint64_t sc_spans_stream_bit(uint32_t stream)
{
    return UINT64_C(1) << stream % 64;
}

#endif

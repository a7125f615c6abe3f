/* The functions of the spans (track/spans.h) for callers that do not see their records.
 *
 * Locks: the functions need none. */
#ifndef SC_TRACK_SPANS_CALLS_H
#define SC_TRACK_SPANS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_spans;

/* The number of stripes. Stripe 0 has all pages except those of areas that were given another
 * stripe; an area has SC_SPANS_AREA_BYTES. */
enum { SC_SPANS_STRIPES = 64, SC_SPANS_AREA_BYTES = 2 << 20, SC_SPANS_AREAS_MAX = 8190 };

/* Names the memory whose areas may have stripes of their own; areas begin at multiples of
 * SC_SPANS_AREA_BYTES from its start. The areas of its first `striped_bytes` have their own stripes
 * from now on. Called once, before there is a span. */
void sc_spans_set_stripes(struct sc_spans *spans, uintptr_t start, size_t size_bytes,
                          size_t striped_bytes);

/* Is the page in another stripe than 0? */
bool sc_spans_have_stripe(const struct sc_spans *spans, uintptr_t address);

/* The stripes of the first and of the last page of an interval as bits. */
uint64_t sc_spans_stripe_bits(const struct sc_spans *spans, uintptr_t address, size_t size_bytes);

/* The stripes in which spans of the stream live; about: some may be missing. */
uint64_t sc_spans_stripes_of_stream(const struct sc_spans *spans, uint32_t stream);

/* The bit of the stream in words of 64 bits. Several streams share a bit. */
static inline uint64_t sc_spans_stream_bit(uint32_t stream)
{
    return UINT64_C(1) << stream % 64;
}

#endif

/* Pointers to those parts of the process's tracker that other modules may use without the tracker's
 * lock. */

/* Terms (docs/glossary.md):
 *   range: host memory that the driver knows: one allocation or one registration
 *   span: a run of pages that one operation wants protected
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_TRACK_PARTS_H
#define SC_TRACK_TRACK_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sc_blocks;
struct sc_events;
struct sc_exempt_pages;
struct sc_no_verdicts;
struct sc_spans;

struct sc_track_parts {
    /* Rare states in which calls take a slower way: bits of enum sc_attends
     * (track/stream_front.h). */
    const _Atomic uint32_t *attends;
    struct sc_events *events;
    struct sc_no_verdicts *no_verdicts;
    struct sc_spans *guards;
    struct sc_exempt_pages *exempt_pages;
    const struct sc_blocks *range_blocks;   /* addresses where ranges are or were */
    const struct sc_blocks *guarded_blocks; /* addresses where pages were ever protected */
    /* how many runs of pages are protected, or still to be unprotected */
    const _Atomic uint32_t *busy_spans;
    const uintptr_t *page_mask; /* the size of a page - 1 */
};
extern const struct sc_track_parts sc_track_parts;

/* Returns true if the process is in this rare state (enum sc_attends). One load. */
static inline bool sc_track_attends(unsigned what)
{
    return atomic_load_explicit(sc_track_parts.attends, memory_order_relaxed) & what;
}

#endif

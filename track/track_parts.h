/* Parts of the process's tracker that are modules of their own, for what these do without a lock.
 */
#ifndef SC_TRACK_TRACK_PARTS_H
#define SC_TRACK_TRACK_PARTS_H

#include <stdatomic.h>
#include <stdint.h>

struct sc_blocks;
struct sc_kept_off;
struct sc_no_verdicts;
struct sc_spans;

struct sc_track_parts {
    struct sc_no_verdicts *no_verdicts;
    struct sc_spans *guards;
    struct sc_kept_off *kept_off;
    const struct sc_blocks *range_blocks;   /* where ranges are or were */
    const struct sc_blocks *guarded_blocks; /* where pages were ever protected */
    const _Atomic uint32_t *busy_spans;     /* how many live, or are unapplied */
    const uintptr_t *page_mask;             /* the size of a page - 1 */
};
extern const struct sc_track_parts sc_track_parts;

#endif

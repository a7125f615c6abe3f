/* Parts of the process's tracker that are modules of their own, for what these do without a lock.
 */
#ifndef SC_TRACK_TRACK_PARTS_H
#define SC_TRACK_TRACK_PARTS_H

struct sc_blocks;
struct sc_kept_off;
struct sc_no_verdicts;
struct sc_spans;

struct sc_track_parts {
    struct sc_no_verdicts *no_verdicts;
    struct sc_spans *guards;
    struct sc_kept_off *kept_off;
    const struct sc_blocks *range_blocks;
};
extern const struct sc_track_parts sc_track_parts;

#endif

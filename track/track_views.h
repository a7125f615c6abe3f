/* What others read of the tracker, who have no business in it. Nothing is changed, and none of them
 * takes the lock: all are lock-free, and safe in a signal handler. */
#ifndef SC_TRACK_TRACK_VIEWS_H
#define SC_TRACK_TRACK_VIEWS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_blocks;
struct sc_graph;
struct sc_graph_extra;
struct sc_graph_use;
struct sc_kept_off;
struct sc_no_verdicts;
struct sc_spans;
struct sc_ticket;
struct sc_track;

/* ---- streams and order ---- */

struct sc_stream_view {
    uintptr_t handle; /* as the program knows it */
    int device;
    uint32_t origin;   /* track/origins.h */
    uint64_t complete; /* all up to this operation is seen complete */
    uint64_t done;     /* and known to the host */
};
struct sc_stream_view sc_track_stream(struct sc_track *track, uint32_t stream);

/* The stream's last operation. */
uint64_t sc_track_issued(struct sc_track *track, uint32_t stream);

bool sc_track_is_complete(struct sc_track *track, const struct sc_ticket *ticket);
bool sc_track_is_known_done(struct sc_track *track, const struct sc_ticket *ticket);
bool sc_track_is_due(struct sc_track *track, uint32_t stream);
bool sc_track_is_all_known(struct sc_track *track, uint32_t stream);

/* ---- memory ---- */

/* False only where there is none, anywhere. */
enum sc_presence {
    SC_HAS_RANGES,
    SC_HAS_MANAGED_RANGES,
    SC_HAS_OPERATIONS,      /* on host memory */
    SC_HAS_MANAGED_SOURCES, /* operations that read managed memory */
    SC_HAS_HOLDS,
    SC_HAS_SIGNALS,      /* or there were some */
    SC_HAS_UNSEEN_WAITS, /* for the host, which are open */
    SC_HAS_GUARDS,       /* pages that are protected, or about to be */
};
bool sc_track_has(struct sc_track *track, enum sc_presence what);

/* False only where nothing of these lies in the interval. */
enum sc_near {
    SC_NEAR_RANGES = 1,
    SC_NEAR_HELD_OPERATIONS = 2, /* on memory that only the driver frees */
    SC_NEAR_HEAP_OPERATIONS = 4, /* on memory that the program can take away itself */
    SC_NEAR_OPERATIONS = SC_NEAR_HELD_OPERATIONS | SC_NEAR_HEAP_OPERATIONS,
    SC_NEAR_HOLDS = 8,
    SC_NEAR_HEAP_GRAPHS = 16, /* uses of such memory by graphs */
    SC_NEAR_HEAP = SC_NEAR_HEAP_OPERATIONS | SC_NEAR_HOLDS | SC_NEAR_HEAP_GRAPHS,
};
bool sc_track_may_have(struct sc_track *track, unsigned what, uintptr_t address, size_t size_bytes);

/* False only if no range is near the object, for callers that come too often to look further. An
 * object that begins before the blocks of ranges does not reach into these. */
bool sc_track_range_may_be_near(struct sc_track *track, const void *object);

/* Counts changes of the ranges; odd while they change. */
uint64_t sc_track_ranges_version(struct sc_track *track);
/* Is the address in a range that may not be guarded? */
bool sc_track_is_guarding_forbidden(struct sc_track *track, uintptr_t address);
/* May the host read sources in the range by itself? */
bool sc_track_is_plainly_readable(struct sc_track *track, uint32_t range);

/* What every free() of the process, and every copy, looks at lies in front of all else in struct
 * sc_track. */
struct sc_track_front {
    _Atomic uint32_t libc_watch; /* not 0: free and munmap must look closer */
    bool watches_device;         /* set before the first stream is added */
};

/* Must they? One load. */
static inline bool sc_track_watches_libc(struct sc_track *track)
{
    const struct sc_track_front *front = (const struct sc_track_front *)track;
    return atomic_load_explicit(&front->libc_watch, memory_order_relaxed) != 0;
}

/* Is what happens to device memory to be told? Also while all streams of the process join each
 * other: what they have not done yet is unordered with a stream that is made later. Lock-free. */
static inline bool sc_track_watches_device(struct sc_track *track)
{
    return ((const struct sc_track_front *)track)->watches_device;
}

/* Are operations guarded until the host knows their end, and not only until they are complete? */
bool sc_track_guards_until_known(struct sc_track *track);
uint64_t sc_track_operations(struct sc_track *track);

/* Is there a page whose access is to change? `also_due`: or one for the sake of what has ended on a
 * stream? */
bool sc_track_may_be_unapplied(struct sc_track *track, bool also_due);

/* ---- parts with modules of their own, as far as these are lock-free ---- */

struct sc_track_parts {
    struct sc_no_verdicts *no_verdicts;
    struct sc_spans *guards;
    struct sc_kept_off *kept_off;
    const struct sc_blocks *range_blocks;
};
extern const struct sc_track_parts sc_track_parts; /* of the process's tracker */

/* A graph or exec by its handle, with its id; NULL and 0: not known. It changes while others tell
 * of it. */
const struct sc_graph *sc_track_graph(struct sc_track *track, uintptr_t handle, uint32_t *id);
const struct sc_graph_extra *sc_track_graph_extra(struct sc_track *track,
                                                  const struct sc_graph_use *use);

#endif

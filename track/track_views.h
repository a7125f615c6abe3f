/* What others read of the tracker, who have no business in it. Nothing is changed but where a
 * function says so, and none of them takes the lock: all are lock-free, and safe in a signal
 * handler. */
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
struct sc_staging;
struct sc_ticket;
struct sc_track;

/* ---- streams and order ---- */

/* As the program knows the stream. */
struct sc_stream_view {
    uintptr_t handle;
    int device;
    uint32_t origin; /* track/origins.h */
};
struct sc_stream_view sc_track_stream(struct sc_track *track, uint32_t stream);
/* The one thing that is set here: when the stream is made. */
void sc_track_set_stream_origin(struct sc_track *track, uint32_t stream, uint32_t origin);

/* The stream's last operation, and up to which one all is seen complete, or known to the host. */
uint64_t sc_track_issued(struct sc_track *track, uint32_t stream);
uint64_t sc_track_completed(struct sc_track *track, uint32_t stream);
uint64_t sc_track_done(struct sc_track *track, uint32_t stream);

bool sc_track_is_complete(struct sc_track *track, const struct sc_ticket *ticket);
bool sc_track_is_known_done(struct sc_track *track, const struct sc_ticket *ticket);
bool sc_track_is_signalled(struct sc_track *track, const struct sc_ticket *ticket);
bool sc_track_has_signals(struct sc_track *track);
bool sc_track_is_due(struct sc_track *track, uint32_t stream);
bool sc_track_is_all_known(struct sc_track *track, uint32_t stream);
/* Is a wait for the host open that is not seen? */
bool sc_track_has_unseen_waits(struct sc_track *track);

/* ---- memory ---- */

/* False only where there is none. */
bool sc_track_has_ranges(struct sc_track *track);
bool sc_track_has_operations(struct sc_track *track); /* on host memory */
bool sc_track_has_holds(struct sc_track *track);
bool sc_track_may_have_range(struct sc_track *track, const void *address, size_t size_bytes);
bool sc_track_may_have_operation(struct sc_track *track, uintptr_t address, size_t size_bytes);
bool sc_track_may_have_hold(struct sc_track *track, uintptr_t address, size_t size_bytes);
/* On memory that the program can take away itself. */
bool sc_track_may_have_heap_operation(struct sc_track *track, uintptr_t address, size_t size_bytes);

/* Counts changes of the ranges; odd while they change. */
uint64_t sc_track_ranges_version(struct sc_track *track);
const struct sc_blocks *sc_track_range_blocks(struct sc_track *track);
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

/* Is a page protected, or about to be? */
bool sc_track_has_guards(struct sc_track *track);

/* Is there a page whose access is to change? `also_due`: or one for the sake of what has ended on a
 * stream? */
bool sc_track_may_be_unapplied(struct sc_track *track, bool also_due);

/* ---- parts with modules of their own ---- */

struct sc_no_verdicts *sc_track_no_verdicts(struct sc_track *track);
struct sc_spans *sc_track_guards(struct sc_track *track);
struct sc_kept_off *sc_track_kept_off(struct sc_track *track);
/* Staging memory whose operations are the tracker's. */
void sc_track_init_staging(struct sc_track *track, struct sc_staging *staging,
                           size_t snapshot_max_bytes);

/* A graph or exec by its handle, with its id; NULL and 0: not known. It changes while others tell
 * of it. */
const struct sc_graph *sc_track_graph(struct sc_track *track, uintptr_t handle, uint32_t *id);
const struct sc_graph_extra *sc_track_graph_extra(struct sc_track *track,
                                                  const struct sc_graph_use *use);

#endif

/* What other modules read of the tracker's streams. All functions are lock-free, and safe in a
 * signal handler. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   origin: the call that made a buffer or a stream, with its stack
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_TRACK_STREAMS_H
#define SC_TRACK_TRACK_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/checks.h"

struct sc_ticket;
struct SC_LOCK sc_track;
extern struct sc_track sc_track; /* the process's own */

struct sc_stream_view {
    uintptr_t handle; /* as the program knows it */
    int device;
    uint32_t origin;   /* the call that made it (track/origins.h) */
    uint64_t complete; /* operations up to this number were seen complete */
    uint64_t done;     /* operations up to this number are known to the host to be done */
};
struct sc_stream_view sc_track_stream(struct sc_track *track, uint32_t stream);

/* Returns the number of the stream's last operation. */
uint64_t sc_track_issued(struct sc_track *track, uint32_t stream);

/* Return whether the operation is complete; whether the host knows it to be done; whether the host
 * knows all of the stream's work to be done. See the functions called sc_order_* in track/order.h.
 */
bool sc_track_is_complete(struct sc_track *track, const struct sc_ticket *ticket);
bool sc_track_is_known_done(struct sc_track *track, const struct sc_ticket *ticket);
bool sc_track_is_all_known(struct sc_track *track, uint32_t stream);

/* May the stream's next call come after other work than the stream's own, for one of these reasons
 * (enum sc_ties)? */
bool sc_track_is_tied(struct sc_track *track, uint32_t stream, unsigned ties);

/* Would the host learn nothing new from a wait for the context, of which this is the legacy stream?
 */
bool sc_track_is_context_known(struct sc_track *track, uint32_t legacy);

#endif

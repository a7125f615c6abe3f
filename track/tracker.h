/* The tracker as a whole, for the files that make it up and for tests. */

/* Terms (docs/glossary.md):
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_TRACKER_H
#define SC_TRACK_TRACKER_H

#include "common/brief_lock.h"
#include "track/allocations_internal.h"
#include "track/events_internal.h"
#include "track/graphs_internal.h"
#include "track/hold_internal.h"
#include "track/inflight.h"
#include "track/no_verdicts.h"
#include "track/order.h"
#include "track/track_front.h"

struct SC_LOCK sc_track {
    struct sc_track_front front; /* first */
    /* In a cache line of its own, since its neighbours are read without the lock. */
    _Alignas(64) struct sc_brief_lock lock;
    _Alignas(64) struct sc_order order;
    struct sc_inflight inflight;
    struct sc_holds holds;
    struct sc_graphs graphs;
    struct sc_events events;
    struct sc_allocations allocations;
    struct sc_no_verdicts no_verdicts;
    _Atomic uint64_t operations; /* how many were ever issued on host memory */
};

#endif

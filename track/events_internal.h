/* The records behind track/events.h. */
#ifndef SC_TRACK_EVENTS_INTERNAL_H
#define SC_TRACK_EVENTS_INTERNAL_H

#include "common/handles.h"
#include "common/pool.h"

struct sc_events {
    struct sc_handles records_of; /* handle -> its record */
    struct sc_pool records;
};

#endif

/* The record of track/events.h. */
#ifndef SC_TRACK_EVENTS_INTERNAL_H
#define SC_TRACK_EVENTS_INTERNAL_H

#include "tools/handles.h"
#include "tools/pool.h"

struct sc_events {
    struct sc_handles records_of; /* handle -> its record */
    struct sc_pool records;
};

#endif

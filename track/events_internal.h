/* The records of what each event stands for, behind track/events.h, for the struct of the tracker.
 * They are read and changed in track/events.c alone. */
#ifndef SC_TRACK_EVENTS_INTERNAL_H
#define SC_TRACK_EVENTS_INTERNAL_H

#include "common/handles.h"
#include "common/pool.h"

struct sc_events {
    struct sc_handles records_of; /* handle -> its record */
    struct sc_pool records;
};

#endif

/* A stream waits for an event. */
#ifndef SC_INTERPOSE_EVENT_CALLS_H
#define SC_INTERPOSE_EVENT_CALLS_H

#include "interpose/driver.h"

struct sc_stream_record;

/* The stream is about to wait for the event, or waits for it since just now: notes what that may
 * bring (interpose/pending.h). An event of a context may stand for anything. True: it may bring
 * work. */
bool sc_events_join(struct sc_stream_record *stream, CUevent event);

#endif

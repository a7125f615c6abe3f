/* A stream waits for an event.
 *
 * Thread-safe. Locks: the tracker's inside; none of the library's may be held. Not for a signal
 * handler.
 */
#ifndef SC_INTERPOSE_CALLS_EVENT_CALLS_H
#define SC_INTERPOSE_CALLS_EVENT_CALLS_H

#include <stdbool.h>

#include "interpose/driver/driver.h"

struct sc_stream_record;

/* The stream is about to wait for the event, or waits for it since just now: notes what that may
 * bring (interpose/streams/unfinished.h). An event of a context may stand for anything. True: it
 * may bring work. */
bool sc_event_calls_join(struct sc_stream_record *stream, CUevent event);

/* A call has just made the event stand for what the stream had to do by then, besides what the call
 * does itself. */
void sc_event_calls_recorded(struct sc_stream_record *stream, CUevent event);

#endif

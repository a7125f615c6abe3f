/* What wrappers of event calls share: notes what a stream joins when it waits for an event.
 *
 * Thread-safe. Locks: the tracker's inside; none of the library's may be held. Not for a signal
 * handler. */
#ifndef SC_INTERPOSE_CALLS_EVENT_CALLS_H
#define SC_INTERPOSE_CALLS_EVENT_CALLS_H

#include <stdbool.h>

#include "interpose/driver/driver.h"

struct sc_stream_record;

/* Notes what the stream's wait for the event may bring it: work that is still unfinished
 * (interpose/streams/unfinished.h). Called before the call, and again just behind it. An event of a
 * context may stand for any work. Returns whether the wait may bring work. */
bool sc_event_calls_note_join(struct sc_stream_record *stream, CUevent event);

/* Notes that a call has just made the event stand for all that the stream had to do by then, apart
 * from the call's own work. */
void sc_event_calls_note_recorded(struct sc_stream_record *stream, CUevent event);

#endif

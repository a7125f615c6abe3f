/* What an event that was recorded, or a stream's wait for one, means for the order of work:
 * functions that the wrappers of event calls share with kernel launches that record an event, and
 * with replays (which note a call that came through no wrapper).
 *
 * Thread-safe. Locks: takes the tracker's; none of the library's may be held. Not for a signal
 * handler. */

/* Terms (docs/glossary.md):
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   unfinished work: other work that may still run on a stream, as far as noted times tell
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_CALLS_EVENT_CALLS_H
#define SC_INTERPOSE_CALLS_EVENT_CALLS_H

#include <stdbool.h>

#include "interpose/driver/driver.h"

struct sc_stream_record;

/* Notes that the stream waits for the event, and so for kernels and host functions that may still
 * run: unfinished work (interpose/streams/unfinished.h). Called before the driver's call, and again
 * after it, since the event may be recorded anew in between. An event that was recorded for a whole
 * context may stand for any work. Returns whether the event may stand for unfinished work. */
bool sc_event_calls_note_join(struct sc_stream_record *stream, CUevent event);

/* Called behind a kernel launch that has recorded the event itself. The event may occur before the
 * launch is over, so it stands for the stream's earlier work alone. */
void sc_event_calls_note_recorded(struct sc_stream_record *stream, CUevent event);

#endif

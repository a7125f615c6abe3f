/* Contexts that end in a way that no wrapper sees (missed/resource_news.h).
 *
 * Thread-safe. Locks: none is taken that is held over calls of the driver. Not for a signal
 * handler.
 */
#ifndef SC_INTERPOSE_CALLS_CONTEXT_CALLS_H
#define SC_INTERPOSE_CALLS_CONTEXT_CALLS_H

#include "interpose/driver/driver.h"

/* Called within the driver, which is about to end the context. The context's work is done, unless
 * it may be a green context. What needs calls of the driver is left to sc_context_calls_bury_ended
 * (base/upcalls.h), which runs before another context gets this handle. */
void sc_context_calls_note_end(CUcontext handle);

#endif

/* Contexts that end in a way that no wrapper sees (missed/resource_news.h).
 *
 * Thread-safe. Locks: none is taken that is held over calls of the driver. Not for a signal
 * handler.
 */
#ifndef SC_INTERPOSE_CALLS_CONTEXT_CALLS_H
#define SC_INTERPOSE_CALLS_CONTEXT_CALLS_H

#include "interpose/driver/driver.h"

/* The driver is about to end the context. The context's work is done, unless it may be a green
 * context. What needs the driver is left to sc_context_calls_bury_ended (base/upcalls.h), which
 * runs before another context gets this handle. Called from within the driver. */
void sc_context_calls_told_end(CUcontext handle);

#endif

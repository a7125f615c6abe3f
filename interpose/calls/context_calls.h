/* Ends the records of contexts that are destroyed by a call that no wrapper sees, as CUPTI reports
 * them (missed/resource_news.h).
 *
 * Thread-safe. Locks: takes none that is held over calls of the driver. Not for a signal handler.
 */

/* Terms (docs/glossary.md):
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_CALLS_CONTEXT_CALLS_H
#define SC_INTERPOSE_CALLS_CONTEXT_CALLS_H

#include "interpose/driver/driver.h"

/* Notes that the context is about to end. Called from within the driver. Unless it may be a green
 * context, all its work counts as done. Here the driver may not be called. What needs its calls is
 * left to sc_context_calls_bury_ended (base/upcalls.h), which runs before another context gets this
 * handle. */
void sc_context_calls_note_end(CUcontext handle);

#endif

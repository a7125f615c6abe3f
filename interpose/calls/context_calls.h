/* Ends the library's record of a context that CUPTI reports as destroyed (missed/resource_news.h),
 * by a call that came through no wrapper. Calls with a wrapper are in context_calls.c itself.
 *
 * Thread-safe. Locks: takes none that is held over calls of the driver. Not for a signal handler.
 */

/* Terms (docs/glossary.md):
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_CALLS_CONTEXT_CALLS_H
#define SC_INTERPOSE_CALLS_CONTEXT_CALLS_H

#include "interpose/driver/driver.h"

/* Notes that the context is about to end. Called from within the driver, which therefore must not
 * be called here. All work of the context counts as done, unless it may be a green context, whose
 * work may go on. What needs driver calls is left to sc_context_calls_bury_ended (base/upcalls.h),
 * which runs before another context gets this handle. */
void sc_context_calls_note_end(CUcontext handle);

#endif

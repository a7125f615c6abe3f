/* Contexts that end on a way that no wrapper saw (missed/resource_news.h). */
#ifndef SC_INTERPOSE_CALLS_CONTEXT_CALLS_H
#define SC_INTERPOSE_CALLS_CONTEXT_CALLS_H

#include "interpose/driver/driver.h"

/* It is told inside of the driver, which is about to end it, and has done its work unless it is a
 * green one. The rest is for sc_context_calls_bury_ended, and before another context of this handle
 * is used. */
void sc_context_calls_told_end(CUcontext handle);

#endif

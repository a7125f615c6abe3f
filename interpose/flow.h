/* What host functions and events of the program tell about order. */
#ifndef SC_INTERPOSE_FLOW_H
#define SC_INTERPOSE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/driver.h"

/* While the calling thread runs a host function of a stream: sc_ticks() when that was launched.
 * 0: it does not. Async-signal-safe. */
uint64_t sc_flow_host_function_ticks(void);

struct sc_stream_record;

/* The stream is about to wait for the event, or waits for it since just now: notes what that may
 * bring (interpose/pending.h). An event of a context may stand for anything. True: it may bring
 * work. */
bool sc_flow_join(struct sc_stream_record *stream, CUevent event);

#endif

/* What host functions and events of the program tell about order. */
#ifndef SC_INTERPOSE_FLOW_H
#define SC_INTERPOSE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/driver.h"

/* While the calling thread runs a host function of a stream: sc_ticks() when that was launched.
 * 0: it does not. Async-signal-safe. */
uint64_t sc_flow_host_function_ticks(void);

/* Does nothing that the event stands for wait for the host? An event of a context may stand for
 * anything. */
bool sc_flow_event_is_seen(CUevent event);

#endif

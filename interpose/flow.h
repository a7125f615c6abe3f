/* What host functions of the program tell about order. */
#ifndef SC_INTERPOSE_FLOW_H
#define SC_INTERPOSE_FLOW_H

#include <stdint.h>

/* While the calling thread runs a host function of a stream: sc_ticks() when that was launched.
 * 0: it does not. Async-signal-safe. */
uint64_t sc_flow_host_function_ticks(void);

#endif

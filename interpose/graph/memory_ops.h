/* What a batch memory operation does: it may write values, and may wait for some.
 *
 * Pure: no locks, and fit for a signal handler.
 */
#ifndef SC_INTERPOSE_GRAPH_MEMORY_OPS_H
#define SC_INTERPOSE_GRAPH_MEMORY_OPS_H

#include <stdbool.h>

#include "interpose/driver/driver.h"

/* Does an operation of the list write a value; does one wait for one? */
struct sc_memory_ops {
    bool writes, waits;
};

/* What a list of memory operations does. Both count as true if that is not known: for an operation
 * of a later driver, and for a list that the driver will refuse. */
struct sc_memory_ops sc_memory_ops_of(const CUstreamBatchMemOpParams *list, unsigned count);

#endif

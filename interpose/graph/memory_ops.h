/* Tells what a batch memory operation does: it may write values, and may wait for values.
 *
 * Pure: no locks; may be called in a signal handler. */

/* Terms (docs/glossary.md):
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 */

#ifndef SC_INTERPOSE_GRAPH_MEMORY_OPS_H
#define SC_INTERPOSE_GRAPH_MEMORY_OPS_H

#include <stdbool.h>

#include "interpose/driver/driver.h"

/* What a batch of memory operations does: whether one of them writes a value, and whether one waits
 * for a value. */
struct sc_memory_ops {
    bool writes, waits;
};

/* Returns what a batch of memory operations does: a write may tell the host how far the device is,
 * and a wait may be for the host. Both members are true if that is not known, as for an operation
 * of a later driver, or a list that the driver will refuse. */
struct sc_memory_ops sc_memory_ops_of(const CUstreamBatchMemOpParams *list, unsigned count);

#endif

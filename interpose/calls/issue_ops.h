/* The operations that one asynchronous call leaves in flight, as its wrapper describes them to the
 * tracker (issue.h). Apart from issue.h, which most wrappers need without them. Plain data. */

/* Terms (docs/glossary.md):
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_CALLS_ISSUE_OPS_H
#define SC_INTERPOSE_CALLS_ISSUE_OPS_H

#include "interpose/graph/host_use.h"
#include "track/op_info.h"

/* The operations as the tracker records them, in the order in which the wrapper added them. */
struct sc_issue_ops {
    unsigned count;
    struct sc_op_info of[SC_ISSUE_HOST_MAX];
};

#endif

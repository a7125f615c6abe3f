/* The operations of one issue (issue.h). Plain data. */
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

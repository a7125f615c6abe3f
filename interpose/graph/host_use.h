/* What a call does with a range of host memory, as the call names it. Plain data. */
#ifndef SC_INTERPOSE_GRAPH_HOST_USE_H
#define SC_INTERPOSE_GRAPH_HOST_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/op_kinds.h"
#include "common/shape.h"

/* An issue has so many of them at most (interpose/calls/issue.h). */
enum { SC_ISSUE_HOST_MAX = 2 };

struct sc_host_use {
    enum sc_direction direction;
    enum sc_buffer_kind kind;
    uint32_t range; /* of the tracker's, or 0 */
    uint32_t origin;
    struct sc_shape shape;
    struct sc_fold fold;
    bool in_call; /* the driver itself reads (SC_H2D) or writes (SC_D2H) it within the call */
    bool stable;  /* nothing but the host can have changed its bytes */
    bool taken;   /* the driver has had its bytes when the call returns */
};

#endif

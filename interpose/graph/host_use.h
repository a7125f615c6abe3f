/* What one call does with one range of host memory, as its wrapper describes it. Plain data. */

/* Terms (docs/glossary.md):
 *   range: host memory that the driver knows: one allocation or one registration
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_GRAPH_HOST_USE_H
#define SC_INTERPOSE_GRAPH_HOST_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/op_kinds.h"
#include "common/shape.h"

/* How many host ranges a call has at most (interpose/calls/issue.h). */
enum { SC_ISSUE_HOST_MAX = 2 };

/* What one call does with one piece of host memory. */
struct sc_host_use {
    enum sc_direction direction;
    enum sc_buffer_kind kind;
    uint32_t range;  /* the tracker's id of the allocation or registration around it; 0: none */
    uint32_t origin; /* the call that made that; 0: not known */
    struct sc_shape shape;
    struct sc_fold fold;
    /* the driver reads (SC_H2D) or writes (SC_D2H) the range before the call returns */
    bool in_call;
    bool stable; /* only the host can have changed the bytes since the issue */
    /* the driver has read the bytes when the call returns, although its contract allows it to read
     * them later */
    bool taken;
};

#endif

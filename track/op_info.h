/* An operation on memory, as it is issued and found again: plain data. Lists of those that were
 * found are in track/ops.h, what is in flight in track/inflight.h. */
#ifndef SC_TRACK_OP_INFO_H
#define SC_TRACK_OP_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/frames.h"
#include "common/op_kinds.h"
#include "common/pages.h"
#include "common/points.h"
#include "common/shape.h"
#include "common/unsure.h"

struct sc_slot;

/* Sources of up to so many bytes are compared as a whole where they are not guarded. */
enum { SC_COMPARED_WHOLE_BYTES = 16 << 10 };

/* What is looked at of operations that are passed by comes first. As it is copied for each
 * operation, it has no gaps, and is no larger than what a compiler copies without a loop: 256
 * bytes. */
struct sc_op_info {
    enum sc_direction direction;
    enum sc_buffer_kind kind;
    uint32_t range; /* 0: none */
    uint32_t stack;
    struct sc_shape shape;
    struct sc_ticket ticket;
    struct sc_fold fold;
    const char *api; /* lives for ever */
    uint32_t origin; /* of the range (track/origins.h) */
    int32_t thread;
    uint64_t ticks; /* sc_ticks() at issue */
    uintptr_t guard_address;
    size_t guard_bytes;       /* 0: unguarded */
    struct sc_slot *slot;     /* the snapshot that the device reads instead, or NULL */
    struct sc_slot *edges[2]; /* the same of the bytes before and behind the guarded pages */
    uint32_t edge_bytes[2];
    struct sc_unseen_mark unseen_waits; /* behind which it stands: SC_UNSURE_WAITS until they are
                                         * over */
    const char *runtime_api;            /* the runtime function that made the call; NULL: unknown */
    const struct sc_point *after; /* before the issue: what else it will come after, or NULL */
    struct sc_local local;        /* SC_STACK: whose it is */
    uint64_t digest; /* of a kernel's flag, before the launch; 0: of none (track/kernel_flags.h) */
    uint32_t correlation_id; /* CUPTI's; 0: unknown */
    uint32_t frame_stack;    /* SC_STACK: where that function was then, or 0 */
    enum sc_access access;   /* what the host may do with the guarded pages */
    bool is_guard_chosen;    /* these are, and how it may touch them */
    bool is_compared_whole;  /* a small source: row by row */
    bool shares_pages;       /* the first and last page, or all of a small source, are compared if
                              * they are not guarded */
    bool copied;             /* the device reads a copy of all of it that is not compared */
    bool by_graph;           /* a graph was launched that has it */
    uint8_t unsure;          /* why its order is not certain: enum sc_unsure, as bits */
    bool taken;              /* the driver has had its bytes when the call returned: a hazard with
                              * it is latent */
    bool reads_device;       /* SC_D2D: this is the side that is read */
    bool stable;             /* nothing but the host can have changed its bytes since the issue */
    bool returned;           /* the function had, when the operation was found known done */
    bool is_simple;          /* no more is set than sc_inflight_describe_simply sets, and a guard */
};

_Static_assert(sizeof(struct sc_op_info) <= 256, "it is copied without a loop");

/* Is it what a kernel has an address of, and merely may use? */
static inline bool sc_ops_is_kernel(const struct sc_op_info *info)
{
    return info->direction == SC_NO_DIRECTION;
}

/* Does an operation on device memory merely read it? */
static inline bool sc_ops_merely_reads(const struct sc_op_info *info)
{
    return info->direction == SC_D2H || info->reads_device;
}

/* Is it one that may not take place? */
static inline bool sc_ops_is_possible(const struct sc_op_info *info)
{
    return sc_ops_is_kernel(info) || (info->unsure & SC_UNSURE_LEFT_OUT);
}

/* Does the device read a copy, whatever becomes of the source? */
static inline bool sc_ops_is_copied(const struct sc_op_info *info)
{
    return info->slot || info->copied;
}

/* Is it not to be held against others, whichever comes first? */
static inline bool sc_ops_is_unjudged(const struct sc_op_info *info)
{
    return info->unsure & SC_UNSURE_UNJUDGED;
}

#endif

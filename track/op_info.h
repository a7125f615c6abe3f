/* An operation on memory, as it is issued and as it is found again: plain data. Lists of found
 * operations are in track/ops.h; what is in flight is in track/inflight.h. */
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

/* A source of at most so many bytes is compared as a whole if it is not guarded. */
enum { SC_COMPARED_WHOLE_BYTES = 16 << 10 };

/* The fields by which walks pass operations over come first. The struct is copied for each
 * operation: it has no gaps, and at most the 256 bytes that a compiler copies without a loop. */
struct sc_op_info {
    enum sc_direction direction;
    enum sc_buffer_kind kind;
    uint32_t range; /* 0: none */
    uint32_t stack;
    struct sc_shape shape;
    struct sc_ticket ticket;
    struct sc_fold fold;
    const char *api; /* lives for ever */
    uint32_t origin; /* origin of the range (track/origins.h) */
    int32_t thread;
    uint64_t ticks; /* sc_ticks() at issue */
    uintptr_t guard_address;
    size_t guard_bytes;   /* 0: unguarded */
    struct sc_slot *slot; /* the snapshot that the device reads instead of the source, or NULL */
    /* Copies, for comparison, of the bytes before and behind the guarded pages. */
    struct sc_slot *edges[2];
    uint32_t edge_bytes[2];
    /* the unseen waits that it stands behind: until they are over its order is unsure
     * (SC_UNSURE_WAITS) */
    struct sc_unseen_mark unseen_waits;
    const char *runtime_api; /* the runtime function that made the call; NULL: unknown */
    /* Until it is issued: what it will come after besides its stream; NULL: nothing. */
    const struct sc_point *after;
    struct sc_local local; /* SC_STACK: the function whose local the buffer is */
    /* Digest of a kernel's flag before the launch; 0: no flag (track/kernel_flags.h). */
    uint64_t digest;
    uint32_t correlation_id; /* CUPTI's; 0: unknown */
    /* for kind SC_STACK: the id of a stack with one frame, of the function whose local is used; 0:
     * not known */
    uint32_t frame_stack;
    enum sc_access access;  /* what the host may do with the guarded pages */
    bool is_guard_chosen;   /* guard_address, guard_bytes and `access` are set */
    bool is_compared_whole; /* a small source: row by row */
    bool shares_pages;      /* the first and last page, or all of a small source, are compared if
                             * they are not guarded */
    bool copied;            /* the device reads a copy of all of it that is not compared */
    bool by_graph;          /* a graph was launched that has it */
    uint8_t unsure;         /* why its order is not certain: enum sc_unsure, as bits */
    /* the driver has read or written its bytes when the call returns, so a hazard with it is
     * latent */
    bool taken;
    bool reads_device; /* SC_D2D: this is the side that is read */
    bool stable;       /* nothing but the host can have changed its bytes since the issue */
    bool returned;     /* the function had, when the operation was found known done */
    bool is_simple;    /* only what sc_inflight_describe_simple_copy sets, and a guard, is set */
};

_Static_assert(sizeof(struct sc_op_info) <= 256, "it is copied without a loop");

/* Is the operation a kernel's possible use of memory that it has an address of? */
static inline bool sc_ops_is_kernel(const struct sc_op_info *info)
{
    return info->direction == SC_NO_DIRECTION;
}

/* Does the operation, on device memory, merely read it? */
static inline bool sc_ops_merely_reads(const struct sc_op_info *info)
{
    return info->direction == SC_D2H || info->reads_device;
}

/* Is the operation a possible use, which may not take place? */
static inline bool sc_ops_is_possible(const struct sc_op_info *info)
{
    return sc_ops_is_kernel(info) || (info->unsure & SC_UNSURE_LEFT_OUT);
}

/* Does the device read a snapshot or another copy, so that the source may change? */
static inline bool sc_ops_is_copied(const struct sc_op_info *info)
{
    return info->slot || info->copied;
}

/* Is the operation unjudged: no hazard, neither as the earlier nor as the later of two? */
static inline bool sc_ops_is_unjudged(const struct sc_op_info *info)
{
    return info->unsure & SC_UNSURE_UNJUDGED;
}

#endif

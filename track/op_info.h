/* An operation on memory, as a wrapper issues it and as a search returns it. Plain data. Lists of
 * found operations are in track/ops.h; the index of those in flight is in track/inflight.h. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   in flight: issued, and the host does not know yet that it is done
 *   known done: waited for by the program, itself or by something behind it
 *   latent: of a hazard: the operation was complete at the event, by luck
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   origin: the call that made a buffer or a stream, with its stack
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   possible use: a use that a launch may leave out: a kernel's address, a body that may not run
 *   range: host memory that the driver knows: one allocation or one registration
 *   simple copy: a copy between device and pinned memory, on a stream without ties, with no
 *       conflict
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   unjudged: of an operation of a graph: its order cannot be seen, so nothing about it is
 *       reported
 *   wrapper: our function in the place of one of the driver's
 */

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

/* A source of at most so many bytes that is not guarded is copied and compared as a whole. */
enum { SC_COMPARED_WHOLE_BYTES = 16 << 10 };

/* The members that walks read first come first. The struct is copied for each operation: it has no
 * gaps, and at most 256 bytes, which a compiler copies without a loop. */
struct sc_op_info {
    enum sc_direction direction;
    enum sc_buffer_kind kind;
    uint32_t range; /* 0: none */
    uint32_t stack;
    struct sc_shape shape;
    struct sc_ticket ticket;
    struct sc_fold fold;
    const char *api; /* lives for ever */
    uint32_t origin; /* the call that made the range (track/origins.h) */
    int32_t thread;
    uint64_t ticks; /* sc_ticks() at issue */
    uintptr_t guard_address;
    size_t guard_bytes;   /* 0: not guarded (its pages are not protected) */
    struct sc_slot *slot; /* the snapshot that the device reads instead of the source, or NULL */
    /* Copies of the source's bytes before and after the guarded pages, to compare with; or NULL. */
    struct sc_slot *edges[2];
    uint32_t edge_bytes[2];
    /* the waits for the host, whose end no call tells (track/unseen.h), that it comes after: until
     * they are over, its order is unknown (SC_UNSURE_WAITS) */
    struct sc_unseen_mark unseen_waits;
    const char *runtime_api; /* the runtime function that made the call; NULL: unknown */
    /* Before it is issued: a point (work issued so far) that it will come after, besides its
     * stream's work; NULL: none. */
    const struct sc_point *after;
    struct sc_local local; /* SC_STACK: the function whose local variable the buffer is */
    /* Digest of a kernel's flag (a word by which it tells the host how far it has come) before the
     * launch; 0: the memory holds no flag (track/kernel_flags.h). */
    uint64_t digest;
    uint32_t correlation_id; /* CUPTI's; 0: unknown */
    /* SC_STACK: the id of a stack of one frame, that of the function whose local variable is used;
     * 0: not known */
    uint32_t frame_stack;
    enum sc_access access; /* what the host may still do with the guarded pages */
    bool is_guard_chosen;  /* guard_address, guard_bytes and `access` are set */
    /* the source is small and not guarded: all its rows are copied and compared */
    bool is_compared_whole;
    /* the first and last page of the source (all of it, if it is small) hold other memory, too:
     * they are compared if they are not guarded */
    bool shares_pages;
    bool copied;    /* the device reads a copy of the whole source, which is not compared */
    bool by_graph;  /* it belongs to a launch of a graph */
    uint8_t unsure; /* why its order is not certain: enum sc_unsure, as bits */
    /* the driver has read or written the bytes when the call returns, so a hazard with it is latent
     */
    bool taken;
    /* of a copy within the device (SC_D2D): this record is of its source, which it only reads */
    bool reads_device;
    /* only the host can have changed the bytes since the issue, so that a change is the program's
     * mistake */
    bool stable;
    /* the function (SC_STACK) had returned when the operation was found known done */
    bool returned;
    /* a simple copy (of pinned memory, without conflicts, track/track_copies.h): only what
     * sc_inflight_describe_simple_copy sets, and a guard, is valid */
    bool is_simple;
};

_Static_assert(sizeof(struct sc_op_info) <= 256, "it is copied without a loop");

/* Returns true if the operation is a kernel's possible use of memory of which it has an address. */
static inline bool sc_ops_is_kernel(const struct sc_op_info *info)
{
    return info->direction == SC_NO_DIRECTION;
}

/* Returns true if the operation, which is on device memory, only reads it. */
static inline bool sc_ops_merely_reads(const struct sc_op_info *info)
{
    return info->direction == SC_D2H || info->reads_device;
}

/* Returns true if the operation may not take place at all: a kernel need not use an address that it
 * has, and a launch may leave a node out. */
static inline bool sc_ops_is_possible(const struct sc_op_info *info)
{
    return sc_ops_is_kernel(info) || (info->unsure & SC_UNSURE_LEFT_OUT);
}

/* Returns true if the device reads a snapshot or another copy, so that the program may change the
 * source. */
static inline bool sc_ops_is_copied(const struct sc_op_info *info)
{
    return info->slot || info->copied;
}

/* Returns true if the operation is unjudged: its order is unknown in a way that no hazard with it
 * can be reported. */
static inline bool sc_ops_is_unjudged(const struct sc_op_info *info)
{
    return info->unsure & SC_UNSURE_UNJUDGED;
}

#endif

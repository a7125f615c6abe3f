/* The two sides of a copy: what it does with host memory at its source and at its destination.
 *
 * A side is host memory if the copy names it as host memory, or by a unified address that is no
 * device memory. The driver is asked about addresses at which the tracker knows no range. Nothing
 * is changed.
 *
 * Locks: none is held; the tracker's may be taken. Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   range: host memory that the driver knows: one allocation or one registration
 *   source: the memory that a copy reads
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_GRAPH_COPY_SIDES_H
#define SC_INTERPOSE_GRAPH_COPY_SIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/op_kinds.h"
#include "common/shape.h"
#include "interpose/driver/driver.h"

enum sc_copy_call;
struct sc_copy_case;
struct sc_copy_manner;
struct sc_device_uses;

/* The source or the destination of a copy: what memory it is, and which bytes. */
struct sc_copy_side {
    bool used;       /* the side is host memory, or managed, and not empty */
    bool host;       /* the side is host memory, and not managed */
    bool device;     /* the side is device memory alone, as far as is known */
    bool named_host; /* the call names the side as host memory; this matters for managed memory */
    bool known;      /* the tracker knows a range at the address */
    bool waits;      /* the target of a node: a launch returns when the copy is complete */
    bool in_call;    /* a node's source in managed memory: a launch reads it before it returns */
    /* the driver was not asked about the address: the side is a source that is either device
     * memory, or pageable and read before the call returns */
    bool unasked;
    enum sc_buffer_kind kind; /* of the known range; else SC_PAGEABLE */
    struct sc_shape shape;
    struct sc_fold fold;
};

/* Both sides of a copy, or the destination of a memset. */
struct sc_copy_sides {
    struct sc_copy_side src, dst;
    bool is_empty; /* a copy of no bytes: both sides are unused */
    bool is_fill;  /* a memset: there is no source */
    uint32_t fill; /* the value of a memset (track/device_use.h) */
    /* a peer copy: ordered after and before all work of the contexts that it names */
    bool is_serialized;
    /* The contexts all of whose work is ordered before and after the copy, as ids of their legacy
     * streams; 0: none. */
    uint32_t ordered_contexts[2];
};

/* Returns the direction under which the tracker records the copy. A copy between two pieces of host
 * memory counts as D2H, since it writes host memory. Pure. */
static inline enum sc_direction sc_copy_sides_direction(const struct sc_copy_sides *sides)
{
    if (sides->is_fill)
        return SC_MEMSET;
    return sides->dst.used ? SC_D2H : sides->src.used ? SC_H2D : SC_D2D;
}

/* Return the sides of a 2D or 3D copy by the parameters of its call; two unused sides for NULL,
 * which the driver will refuse. May call the driver. */
struct sc_copy_sides sc_copy_sides_of_2d(const CUDA_MEMCPY2D *copy);
struct sc_copy_sides sc_copy_sides_of_3d(const CUDA_MEMCPY3D *copy);
struct sc_copy_sides sc_copy_sides_of_3d_peer(const CUDA_MEMCPY3D_PEER *copy);
/* The same by the parameters of a node that is there. Those above are for a call that is about to
 * use the memory, or to add or set a node: so a registration ends there that the program has ended
 * and the library has kept for a graph (sc_reaper_end_registrations). */
struct sc_copy_sides sc_copy_sides_named_by_node(const CUDA_MEMCPY3D *copy);

/* What an address without a known range counts as, in sc_copy_side_at. ASKED: pageable host memory
 * if the driver says so. HOST: host memory, since the call names it so. UNIFIED: host memory,
 * unless the driver says that it is a device's. DEVICE: device memory. KNOWN: neither, so only a
 * known range makes it host memory. OF_NODE: as ASKED, but a node that is there names it, and no
 * call. */
enum sc_side_as {
    SC_SIDE_ASKED,
    SC_SIDE_HOST,
    SC_SIDE_UNIFIED,
    SC_SIDE_DEVICE,
    SC_SIDE_KNOWN,
    SC_SIDE_OF_NODE
};

/* Returns one side of a contiguous copy: the memory of the range that the tracker knows at the
 * address, or else what `as` says. May call the driver. */
struct sc_copy_side sc_copy_side_at(enum sc_side_as as, uintptr_t address, size_t size_bytes);

/* Store the sides of a contiguous asynchronous copy. unified: each address may be the host's or a
 * device's (cuMemcpyAsync). of_device: the call names both as device memory (cuMemcpyDtoDAsync).
 * The driver is asked about an address only if its answer changes when the copy is read or done.
 * `in_place`: the device reads and writes pageable memory itself. */
void sc_copy_sides_unified(struct sc_copy_sides *sides, CUdeviceptr dst, CUdeviceptr src,
                           size_t size_bytes, bool in_place);
void sc_copy_sides_of_device(struct sc_copy_sides *sides, CUdeviceptr dst, CUdeviceptr src,
                             size_t size_bytes, bool in_place);

/* Adds to `uses` what the copy does with device memory, for the option device=1. Pure. */
void sc_copy_sides_add_device(const struct sc_copy_sides *sides, struct sc_device_uses *uses);

/* Returns the copy in the form that sc_copy_manner_of takes (track/copy_manner.h). `call`: which
 * kind of call makes it. Pure. */
struct sc_copy_case sc_copy_sides_case(const struct sc_copy_sides *sides, enum sc_copy_call call,
                                       bool in_place);
/* Returns when the driver reads and writes the two sides, and whether the call waits
 * (track/copy_manner.h). Pure. */
struct sc_copy_manner sc_copy_sides_manner(const struct sc_copy_sides *sides,
                                           enum sc_copy_call call, bool in_place);
/* Sets, for a copy node, what a launch does before it returns: `waits` if it waits until the
 * destination is written, `in_call` if it reads the source. Pure. */
void sc_copy_sides_of_node(struct sc_copy_sides *sides);

#endif

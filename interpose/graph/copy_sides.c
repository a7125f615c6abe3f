#include "interpose/graph/copy_sides.h"

#include <string.h>

#include "interpose/driver/addresses.h"
#include "interpose/reaper/reaper.h"
#include "track/copy_manner.h"
#include "track/device_use.h"
#include "track/track_ranges.h"

#include "common/poison.h"

/* The source or destination of a 2D or 3D copy, as the call's parameters name it: the memory at
 * `host` or `device`, by the type, and where in it the bytes begin. */
struct operand {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    size_t x, y, z, pitch, height;
};

struct extent { /* of a copy: bytes of a row, rows, slices */
    size_t width, height, depth;
};

/* Who names a side: a call that is about to use the memory, or a node that is there already. */
enum named { BY_CALL, BY_NODE };

/* Sets whether the tracker knows host memory at the address that is named for the side (an
 * allocation or a registration), and of which kind. If not, that is SC_PAGEABLE: before a call uses
 * it, a registration ends there that the program has ended and the library has kept. */
static void set_kind(struct sc_copy_side *side, uintptr_t address, enum named named)
{
    struct sc_range_info range = sc_track_find_range(&sc_track, address);
    side->known = range.range != 0;
    side->kind = range.range ? range.kind : SC_PAGEABLE;
    if (!range.range && named == BY_CALL)
        sc_reaper_end_registrations(side->shape.address, sc_shape_hull_bytes(&side->shape));
}

/* Returns one side of a 2D or 3D copy: where its bytes lie, and whether that is host memory. An
 * array is device memory without an address, so the side stays unused. Managed memory, and pinned
 * memory that the call names as device memory, is used, but does not count as host memory. The
 * driver is asked only for a unified address at which no range is known. A pitch or height of 0
 * means that rows or slices are contiguous. */
static struct sc_copy_side operand_side(const struct operand *operand, const struct extent *extent,
                                        enum named named)
{
    struct sc_copy_side side = {0};
    size_t pitch = operand->pitch ? operand->pitch : extent->width + operand->x;
    size_t slice = pitch * (operand->height ? operand->height : extent->height + operand->y);
    bool names_host = operand->type == CU_MEMORYTYPE_HOST;
    uintptr_t base = names_host ? (uintptr_t)operand->host : (uintptr_t)operand->device;
    if (operand->type == CU_MEMORYTYPE_ARRAY)
        return side;
    side.shape = (struct sc_shape){
        .address = base + operand->z * slice + operand->y * pitch + operand->x,
        .width_bytes = extent->width,
        .pitch_bytes = pitch,
        .rows = extent->height,
    };
    /* A shape has one pitch: with several slices each of its rows is a whole slice, and `fold` has
     * the gaps between the rows within. */
    if (extent->depth > 1) {
        side.shape.width_bytes = (extent->height - 1) * pitch + extent->width;
        side.shape.pitch_bytes = slice;
        side.shape.rows = extent->depth;
        if (extent->height > 1 && extent->width < pitch)
            side.fold = (struct sc_fold){extent->width, pitch};
    }
    set_kind(&side, base, named);
    side.named_host = names_host;
    if (side.known)
        side.host = side.kind != SC_MANAGED && operand->type != CU_MEMORYTYPE_DEVICE;
    else
        side.host = names_host || (operand->type == CU_MEMORYTYPE_UNIFIED &&
                                   !sc_address_is_device(operand->device));
    side.used = side.known || side.host;
    return side;
}

/* Returns both sides of a 2D or 3D copy; two unused ones if it copies no bytes. */
static struct sc_copy_sides operand_sides(const struct operand *src, const struct operand *dst,
                                          const struct extent *extent, enum named named)
{
    struct sc_copy_sides sides = {0};
    sides.is_empty = !extent->width || !extent->height || !extent->depth;
    if (!sides.is_empty) {
        sides.src = operand_side(src, extent, named);
        sides.dst = operand_side(dst, extent, named);
    }
    return sides;
}

/* Returns the sides of a 2D copy, as one slice of a 3D copy. NULL is a call that the driver will
 * refuse: no side is used. */
struct sc_copy_sides sc_copy_sides_of_2d(const CUDA_MEMCPY2D *copy)
{
    if (!copy)
        return (struct sc_copy_sides){0};
    return operand_sides(&(struct operand){copy->srcMemoryType, copy->srcHost, copy->srcDevice,
                                           copy->srcXInBytes, copy->srcY, 0, copy->srcPitch, 0},
                         &(struct operand){copy->dstMemoryType, copy->dstHost, copy->dstDevice,
                                           copy->dstXInBytes, copy->dstY, 0, copy->dstPitch, 0},
                         &(struct extent){copy->WidthInBytes, copy->Height, 1}, BY_CALL);
}

/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER have these fields in common. */
#define SIDES_3D(copy, named)                                                                      \
    operand_sides(&(struct operand){(copy)->srcMemoryType, (copy)->srcHost, (copy)->srcDevice,     \
                                    (copy)->srcXInBytes, (copy)->srcY, (copy)->srcZ,               \
                                    (copy)->srcPitch, (copy)->srcHeight},                          \
                  &(struct operand){(copy)->dstMemoryType, (copy)->dstHost, (copy)->dstDevice,     \
                                    (copy)->dstXInBytes, (copy)->dstY, (copy)->dstZ,               \
                                    (copy)->dstPitch, (copy)->dstHeight},                          \
                  &(struct extent){(copy)->WidthInBytes, (copy)->Height, (copy)->Depth}, named)

struct sc_copy_sides sc_copy_sides_of_3d(const CUDA_MEMCPY3D *copy)
{
    return copy ? SIDES_3D(copy, BY_CALL) : (struct sc_copy_sides){0};
}

struct sc_copy_sides sc_copy_sides_named_by_node(const CUDA_MEMCPY3D *copy)
{
    return copy ? SIDES_3D(copy, BY_NODE) : (struct sc_copy_sides){0};
}

struct sc_copy_sides sc_copy_sides_of_3d_peer(const CUDA_MEMCPY3D_PEER *copy)
{
    return copy ? SIDES_3D(copy, BY_CALL) : (struct sc_copy_sides){0};
}

/* Returns one side of a contiguous copy. A range that the tracker knows at the address decides what
 * memory it is. Else `as` says so, or says by what question the driver is asked. */
struct sc_copy_side sc_copy_side_at(enum sc_side_as as, uintptr_t address, size_t size_bytes)
{
    struct sc_copy_side side = {.shape = {address, size_bytes, size_bytes, 1}};
    side.named_host = as == SC_SIDE_HOST;
    set_kind(&side, address, as == SC_SIDE_OF_NODE ? BY_NODE : BY_CALL);
    side.device = as == SC_SIDE_DEVICE && !side.known;
    if (side.known)
        side.host = side.kind != SC_MANAGED;
    else
        side.host =
            as == SC_SIDE_HOST ||
            ((as == SC_SIDE_ASKED || as == SC_SIDE_OF_NODE) && sc_address_is_pageable(address)) ||
            (as == SC_SIDE_UNIFIED && !sc_address_is_device(address));
    side.used = (side.known || side.host) && size_bytes;
    return side;
}

/* ---- between two addresses ---- */

/* Makes a side at which no range is known host memory, if the driver says that it is pageable. */
static void set_pageable(struct sc_copy_side *side, bool is_pageable)
{
    side->used |= is_pageable;
    side->host |= is_pageable;
}

/* Asks the driver which side without a known range is pageable, for a device that copies pageable
 * memory through a buffer of the driver's. The answer says when the copy is done. A copy to
 * pageable memory, or between host memory, is complete in the call. A pageable source of other
 * copies is read in the call, and only for a large one (SC_COPY_STAGED_BYTES) the call waits. A
 * smaller source makes no difference, and is not asked about (`unasked`): each question costs a
 * call. */
static void ask_where_staged(struct sc_copy_sides *sides)
{
    struct sc_copy_side *src = &sides->src, *dst = &sides->dst;
    if (!dst->known)
        set_pageable(dst, !sc_address_is_device(dst->shape.address));
    bool may_wait = dst->host || sc_shape_hull_bytes(&src->shape) > SC_COPY_STAGED_BYTES;
    if (!src->known && may_wait)
        set_pageable(src, !sc_address_is_device(src->shape.address));
    else
        src->unasked = !src->used && !src->known;
}

/* Asks the driver whether a side without a known range is pageable, for a device that reads and
 * writes pageable memory itself: then every copy may be asynchronous, and the answer is always
 * needed. */
static void ask_in_place(struct sc_copy_side *side)
{
    if (!side->known)
        set_pageable(side, sc_address_is_pageable(side->shape.address));
}

/* Stores what the tracker knows of both sides, without a question to the driver. Returns false if
 * the copy has no bytes, so that there is nothing to ask. */
static bool find_sides(struct sc_copy_sides *sides, CUdeviceptr dst, CUdeviceptr src,
                       size_t size_bytes)
{
    *sides = (struct sc_copy_sides){.is_empty = size_bytes == 0};
    if (sides->is_empty)
        return false;
    sides->src = sc_copy_side_at(SC_SIDE_KNOWN, src, size_bytes);
    sides->dst = sc_copy_side_at(SC_SIDE_KNOWN, dst, size_bytes);
    return true;
}

static void ask_both_in_place(struct sc_copy_sides *sides)
{
    ask_in_place(&sides->src);
    ask_in_place(&sides->dst);
}

/* Finds both sides of a copy between two addresses, each of which may be the host's or a device's
 * (cuMemcpyAsync). `in_place`: the device reads and writes pageable memory itself. */
void sc_copy_sides_unified(struct sc_copy_sides *sides, CUdeviceptr dst, CUdeviceptr src,
                           size_t size_bytes, bool in_place)
{
    if (!find_sides(sides, dst, src, size_bytes))
        return;
    if (in_place)
        ask_both_in_place(sides);
    else
        ask_where_staged(sides);
}

/* Finds both sides of a copy between two addresses that the call names as device memory
 * (cuMemcpyDtoDAsync), although pinned, managed and, with `in_place`, pageable memory is allowed
 * there. `host` is set for neither, since the call names neither as host memory; `used` says what
 * is tracked. */
void sc_copy_sides_of_device(struct sc_copy_sides *sides, CUdeviceptr dst, CUdeviceptr src,
                             size_t size_bytes, bool in_place)
{
    if (!find_sides(sides, dst, src, size_bytes))
        return;
    if (in_place)
        ask_both_in_place(sides);
    sides->src.unasked = !sides->src.used;
    sides->src.host = sides->dst.host = false;
}

/* ---- what it does with device memory ---- */

/* Adds one side of a copy or memset to the list of what the call does with device memory. */
static void add_device_use(struct sc_device_uses *uses, const struct sc_copy_sides *sides,
                           const struct sc_copy_side *side, enum sc_device_access access)
{
    sc_device_uses_add(uses, &(struct sc_device_use){.shape = side->shape,
                                                     .fold = side->fold,
                                                     .direction = sc_copy_sides_direction(sides),
                                                     .access = access,
                                                     .fill = sides->fill});
}

/* Adds the sides that are device memory to `uses`, for the option device=1. Of a memset only a
 * known range tells host memory, since `used` is set for any memory that a memset node fills. */
void sc_copy_sides_add_device(const struct sc_copy_sides *sides, struct sc_device_uses *uses)
{
    if (!sides->src.used && !sides->is_fill)
        add_device_use(uses, sides, &sides->src, SC_DEVICE_READS);
    if (sides->is_fill ? !sides->dst.known : !sides->dst.used)
        add_device_use(uses, sides, &sides->dst, SC_DEVICE_WRITES);
}

/* ---- what the driver does ---- */

/* Returns where a side's memory lies, in the words of copy_manner.h, which knows how the driver
 * copies between such places. Managed memory that the call names as host memory is a place of its
 * own. */
static enum sc_copy_place place_of(const struct sc_copy_side *side)
{
    if (side->known && side->kind == SC_MANAGED && side->named_host)
        return SC_PLACE_MANAGED_AS_HOST;
    if (side->known)
        return sc_copy_manner_place(side->kind);
    return side->used ? SC_PLACE_PAGEABLE : SC_PLACE_DEVICE;
}

/* Returns the copy in the form that sc_copy_manner_of takes to say how the driver makes it. */
struct sc_copy_case sc_copy_sides_case(const struct sc_copy_sides *sides, enum sc_copy_call call,
                                       bool in_place)
{
    return (struct sc_copy_case){
        .call = call,
        .src = place_of(&sides->src),
        .dst = place_of(&sides->dst),
        .in_place = in_place,
        .size_bytes = sc_shape_hull_bytes(&sides->src.shape),
    };
}

/* Returns when the driver reads and writes the two sides, and whether the call waits. */
struct sc_copy_manner sc_copy_sides_manner(const struct sc_copy_sides *sides,
                                           enum sc_copy_call call, bool in_place)
{
    const struct sc_copy_case copy_case = sc_copy_sides_case(sides, call, in_place);
    return sc_copy_manner_of(&copy_case);
}

/* Sets when launches use the sides of a copy node. `waits`: the launch returns when the copy into
 * this side is complete. `in_call`: the launch reads this source before it returns; set for managed
 * memory alone, which is read early if the copy names it as host memory. A copy of no bytes uses
 * nothing. */
void sc_copy_sides_of_node(struct sc_copy_sides *sides)
{
    const struct sc_copy_case copy_case = sc_copy_sides_case(sides, SC_COPY_NODE, false);
    const struct sc_copy_manner manner = sc_copy_manner_of(&copy_case);
    if (sides->is_empty)
        return;
    sides->dst.waits = manner.written == SC_IN_CALL;
    sides->src.in_call = copy_case.src == SC_PLACE_MANAGED_AS_HOST && manner.read == SC_IN_CALL;
}

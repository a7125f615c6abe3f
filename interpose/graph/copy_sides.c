#include "interpose/graph/copy_sides.h"

#include "interpose/driver/addresses.h"
#include "interpose/driver/driver.h"

#include "track/poison.h"

struct side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    size_t x, y, z, pitch, height;
};

struct extent {
    size_t width, height, depth;
};

static bool is_known(uintptr_t address, enum sc_buffer_kind *kind)
{
    struct sc_range_info range = sc_track_find_range(&sc_track, address);
    *kind = range.range ? range.kind : SC_PAGEABLE;
    return range.range != 0;
}

static struct sc_copy_side box_of(const struct side *side, const struct extent *extent)
{
    struct sc_copy_side box = {0};
    size_t pitch = side->pitch ? side->pitch : extent->width + side->x;
    size_t slice = pitch * (side->height ? side->height : extent->height + side->y);
    bool names_host = side->type == CU_MEMORYTYPE_HOST;
    uintptr_t base = names_host ? (uintptr_t)side->host : (uintptr_t)side->device;
    if (side->type == CU_MEMORYTYPE_ARRAY)
        return box;
    box.known = is_known(base, &box.kind);
    if (names_host)
        box.host = true;
    else if (side->type == CU_MEMORYTYPE_UNIFIED)
        box.host = box.known ? box.kind != SC_MANAGED : !sc_is_device_address(side->device);
    box.used = box.known || box.host;
    box.shape = (struct sc_shape){
        .address = base + side->z * slice + side->y * pitch + side->x,
        .width_bytes = extent->width,
        .pitch_bytes = pitch,
        .rows = extent->height,
    };
    if (extent->depth > 1) { /* rows of a slice apart, each as long as a slice's rows together */
        box.shape.width_bytes = (extent->height - 1) * pitch + extent->width;
        box.shape.pitch_bytes = slice;
        box.shape.rows = extent->depth;
        if (extent->height > 1 && extent->width < pitch)
            box.fold = (struct sc_fold){extent->width, pitch};
    }
    return box;
}

static struct sc_copy_sides boxes_of(const struct side *src, const struct side *dst,
                                     const struct extent *extent)
{
    struct sc_copy_sides boxes = {0};
    boxes.is_empty = !extent->width || !extent->height || !extent->depth;
    if (!boxes.is_empty) {
        boxes.src = box_of(src, extent);
        boxes.dst = box_of(dst, extent);
    }
    return boxes;
}

struct sc_copy_sides sc_copy_sides_of_2d(const CUDA_MEMCPY2D *copy)
{
    if (!copy)
        return (struct sc_copy_sides){0};
    return boxes_of(&(struct side){copy->srcMemoryType, copy->srcHost, copy->srcDevice,
                                   copy->srcXInBytes, copy->srcY, 0, copy->srcPitch, 0},
                    &(struct side){copy->dstMemoryType, copy->dstHost, copy->dstDevice,
                                   copy->dstXInBytes, copy->dstY, 0, copy->dstPitch, 0},
                    &(struct extent){copy->WidthInBytes, copy->Height, 1});
}

/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER have these fields in common. */
#define BOXES_3D(copy)                                                                             \
    boxes_of(&(struct side){(copy)->srcMemoryType, (copy)->srcHost, (copy)->srcDevice,             \
                            (copy)->srcXInBytes, (copy)->srcY, (copy)->srcZ, (copy)->srcPitch,     \
                            (copy)->srcHeight},                                                    \
             &(struct side){(copy)->dstMemoryType, (copy)->dstHost, (copy)->dstDevice,             \
                            (copy)->dstXInBytes, (copy)->dstY, (copy)->dstZ, (copy)->dstPitch,     \
                            (copy)->dstHeight},                                                    \
             &(struct extent){(copy)->WidthInBytes, (copy)->Height, (copy)->Depth})

struct sc_copy_sides sc_copy_sides_of_3d(const CUDA_MEMCPY3D *copy)
{
    return copy ? BOXES_3D(copy) : (struct sc_copy_sides){0};
}

struct sc_copy_sides sc_copy_sides_of_3d_peer(const CUDA_MEMCPY3D_PEER *copy)
{
    return copy ? BOXES_3D(copy) : (struct sc_copy_sides){0};
}

/* `is_hosts`: what an address is that is not known. */
static struct sc_copy_side box_at(uintptr_t address, size_t size_bytes,
                                  bool (*is_hosts)(CUdeviceptr))
{
    struct sc_copy_side box = {.shape = {address, size_bytes, size_bytes, 1}};
    box.known = is_known(address, &box.kind);
    box.host = box.known ? box.kind != SC_MANAGED : is_hosts(address);
    box.used = (box.known || box.host) && size_bytes;
    return box;
}

static bool always(CUdeviceptr address)
{
    (void)address;
    return true;
}

static bool never(CUdeviceptr address)
{
    (void)address;
    return false;
}

static bool is_no_device_address(CUdeviceptr address)
{
    return !sc_is_device_address(address);
}

struct sc_copy_side sc_copy_side_at(CUdeviceptr address, size_t size_bytes)
{
    return box_at(address, size_bytes, sc_is_pageable_address);
}

struct sc_copy_side sc_copy_side_of_host(const void *address, size_t size_bytes)
{
    return box_at((uintptr_t)address, size_bytes, always);
}

struct sc_copy_side sc_copy_side_unified(CUdeviceptr address, size_t size_bytes)
{
    return box_at(address, size_bytes, is_no_device_address);
}

struct sc_copy_side sc_copy_side_pinned(CUdeviceptr address, size_t size_bytes)
{
    return box_at(address, size_bytes, never);
}

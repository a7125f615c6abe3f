/* What two- and three-dimensional copies do with host memory.
 *
 * A side is host memory if it is named as such, or by a unified address that is no device's. Asks
 * the driver about addresses that are not known; otherwise pure.
 */
#ifndef SC_INTERPOSE_BOXES_H
#define SC_INTERPOSE_BOXES_H

#include "interpose/driver.h"
#include "track/track.h"

struct sc_box {
    bool used; /* the side is host memory, or managed */
    bool host; /* and not managed */
    bool known;
    enum sc_buffer_kind kind;
    struct sc_shape shape;
    struct sc_fold fold;
};

struct sc_boxes {
    struct sc_box src, dst;
    bool is_empty; /* a copy of no bytes: both are unused */
};

struct sc_boxes sc_boxes_of_2d(const CUDA_MEMCPY2D *copy);
struct sc_boxes sc_boxes_of_3d(const CUDA_MEMCPY3D *copy);
struct sc_boxes sc_boxes_of_3d_peer(const CUDA_MEMCPY3D_PEER *copy);

/* A plain run of bytes at an address of which nothing is known. */
struct sc_box sc_box_at(CUdeviceptr address, size_t size_bytes);

/* The same at one that is named as the host's; at a unified one; and where the driver takes any but
 * pageable memory. */
struct sc_box sc_box_of_host(const void *address, size_t size_bytes);
struct sc_box sc_box_unified(CUdeviceptr address, size_t size_bytes);
struct sc_box sc_box_pinned(CUdeviceptr address, size_t size_bytes);

#endif

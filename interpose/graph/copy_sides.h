/* What two- and three-dimensional copies do with host memory.
 *
 * A side is host memory if it is named as such, or by a unified address that is no device's. Asks
 * the driver about addresses that are not known; otherwise pure.
 */
#ifndef SC_INTERPOSE_GRAPH_COPY_SIDES_H
#define SC_INTERPOSE_GRAPH_COPY_SIDES_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"
#include "track/hazard.h"
#include "track/shape.h"
#include "track/track.h"

struct sc_copy_side {
    bool used; /* the side is host memory, or managed */
    bool host; /* and not managed */
    bool known;
    enum sc_buffer_kind kind;
    struct sc_shape shape;
    struct sc_fold fold;
};

struct sc_copy_sides {
    struct sc_copy_side src, dst;
    bool is_empty; /* a copy of no bytes: both are unused */
};

struct sc_copy_sides sc_copy_sides_of_2d(const CUDA_MEMCPY2D *copy);
struct sc_copy_sides sc_copy_sides_of_3d(const CUDA_MEMCPY3D *copy);
struct sc_copy_sides sc_copy_sides_of_3d_peer(const CUDA_MEMCPY3D_PEER *copy);

/* A plain run of bytes at an address of which nothing is known. */
struct sc_copy_side sc_copy_side_at(CUdeviceptr address, size_t size_bytes);

/* The same at one that is named as the host's; at a unified one; and where the driver takes any but
 * pageable memory. */
struct sc_copy_side sc_copy_side_of_host(const void *address, size_t size_bytes);
struct sc_copy_side sc_copy_side_unified(CUdeviceptr address, size_t size_bytes);
struct sc_copy_side sc_copy_side_pinned(CUdeviceptr address, size_t size_bytes);

#endif

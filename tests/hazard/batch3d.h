/* Batch copies in three dimensions, each of one box of memory. */
#ifndef SC_TESTS_HAZARD_BATCH3D_H
#define SC_TESTS_HAZARD_BATCH3D_H

#include "twin.h"

/* Rows of `width` bytes in host memory, `row_bytes` apart. */
struct box {
    size_t width, height, depth, row_bytes;
};

static TWIN_HELPER size_t box_bytes(const struct box *box)
{
    return box->row_bytes * box->height * box->depth;
}

/* The rows alone: what lies between them is left as it is. */
static TWIN_HELPER void fill_box(void *memory, const struct box *box, unsigned seed)
{
    for (size_t row = 0; row < box->height * box->depth; row++)
        fill((unsigned char *)memory + row * box->row_bytes, box->width, seed + (unsigned)row);
}

static TWIN_HELPER bool box_holds(const void *memory, const struct box *box, unsigned seed)
{
    for (size_t row = 0; row < box->height * box->depth; row++)
        if (!holds((const unsigned char *)memory + row * box->row_bytes, box->width,
                   seed + (unsigned)row))
            return false;
    return true;
}

/* Device memory has the rows behind each other. */
static TWIN_HELPER bool device_holds_box(const void *device, const struct box *box, unsigned seed)
{
    struct box packed = {box->width, box->height, box->depth, box->width};
    void *image = image_of(box_bytes(&packed));
    CHECK(cudaMemcpy(image, device, box_bytes(&packed), cudaMemcpyDeviceToHost));
    return box_holds(image, &packed, seed);
}

/* Inline, since it must call the variant of the API that the twin is built for. */
static inline void upload_box(void *device, void *memory, const struct box *box,
                              enum cudaMemcpySrcAccessOrder order, cudaStream_t stream)
{
    struct cudaMemcpy3DBatchOp copy;
    memset(&copy, 0, sizeof copy);
    copy.src.type = cudaMemcpyOperandTypePointer;
    copy.src.op.ptr.ptr = memory;
    copy.src.op.ptr.rowLength = box->row_bytes;
    copy.src.op.ptr.layerHeight = box->height;
    copy.src.op.ptr.locHint.type = cudaMemLocationTypeHost;
    copy.dst.type = cudaMemcpyOperandTypePointer;
    copy.dst.op.ptr.ptr = device;
    copy.dst.op.ptr.locHint.type = cudaMemLocationTypeDevice;
    copy.extent.width = box->width;
    copy.extent.height = box->height;
    copy.extent.depth = box->depth;
    copy.srcAccessOrder = order;
    CHECK(cudaMemcpy3DBatchAsync(1, &copy, 0, stream));
}

#endif

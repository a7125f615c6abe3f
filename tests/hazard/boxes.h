/* Boxes of a volume in device memory, whose rows lie apart, and copies of them to and from others.
 */
#ifndef SC_TESTS_HAZARD_BOXES_H
#define SC_TESTS_HAZARD_BOXES_H

#include "twin.h"

/* Rows of a volume, in bytes, of a layer, and layers. */
enum { PITCH = 1024, ROWS = 16, LAYERS = 8, VOLUME = PITCH * ROWS * LAYERS };

static TWIN_HELPER struct cudaMemcpy3DParms box_copy(void *to, struct cudaPos to_pos, void *from,
                                                     struct cudaPos from_pos,
                                                     struct cudaExtent extent)
{
    struct cudaMemcpy3DParms box;
    memset(&box, 0, sizeof box);
    box.srcPtr = (struct cudaPitchedPtr){from, PITCH, PITCH, ROWS};
    box.dstPtr = (struct cudaPitchedPtr){to, PITCH, PITCH, ROWS};
    box.srcPos = from_pos;
    box.dstPos = to_pos;
    box.extent = extent;
    box.kind = cudaMemcpyDeviceToDevice;
    return box;
}

/* Inline, since it must call the variant of the API that the twin is built for. */
static inline void copy_box(void *to, struct cudaPos to_pos, void *from, struct cudaPos from_pos,
                            struct cudaExtent extent, cudaStream_t stream)
{
    const struct cudaMemcpy3DParms box = box_copy(to, to_pos, from, from_pos, extent);
    CHECK(cudaMemcpy3DAsync(&box, stream));
}

#endif

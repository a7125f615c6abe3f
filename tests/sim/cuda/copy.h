/* copy.c: when a copy reads and writes host memory, by the kind of call and of memory. */
#ifndef SIM_COPY_H
#define SIM_COPY_H

#include "engine.h"
#include "memory.h"

enum sim_manner {
    MANNER_ASYNC,
    MANNER_SYNC,
    MANNER_NODE, /* of a graph, at its launch */
    MANNER_BATCH_STREAM,
    MANNER_BATCH_DURING,
    MANNER_BATCH_ANY,
};

/* Addresses in `copy` are the program's. INVALID_VALUE for what is not allocated or overrun. */
CUresult sim_copy_submit(CUstream handle, CUstream dflt, const struct sim_copy *copy,
                         enum sim_manner manner);
/* A synchronous copy, which is in order with all work of the current context and of those two,
 * earlier and later, in whatever stream. */
CUresult sim_copy_submit_serialized(CUstream dflt, const struct sim_copy *copy, CUcontext dst,
                                    CUcontext src);
/* Notes of a node's copy what is pageable by now. */
void sim_copy_keep_kinds_locked(struct sim_copy *copy);
/* Turns the program's addresses into the device's, staging the source where a launch on the stream
 * does. The lock may be open meanwhile. */
CUresult sim_copy_bind_node_locked(struct sim_work *work, CUstream stream, bool *waits);
/* `waits`: so does a synchronous memset. */
CUresult sim_fill_bind_locked(struct sim_fill *fill, bool *waits);
/* value.c: the same for a word. */
CUresult sim_value_bind_locked(struct sim_value *value);

static inline struct sim_copy sim_copy_flat(uintptr_t dst, uintptr_t src, size_t bytes)
{
    return (struct sim_copy){.src = src, .dst = dst, .width = bytes, .height = 1, .depth = 1};
}

/* copy_nd.c: the general parameters as a copy; INVALID_VALUE for what makes no sense. */
CUresult sim_copy_from_3d(const CUDA_MEMCPY3D *p, struct sim_copy *copy);

/* Of a copy in an exec the kinds of memory cannot be changed. */
static inline bool sim_copy_same_types(const CUDA_MEMCPY3D *a, const CUDA_MEMCPY3D *b)
{
    return a->srcMemoryType == b->srcMemoryType && a->dstMemoryType == b->dstMemoryType;
}

#endif

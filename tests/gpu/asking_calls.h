/* Tables of calls: X(id, name, what the call needs, the call).
 *
 *     #define CALLS(X) X(query, "cuStreamQuery", NONE, cuStreamQuery(LEGACY)) ...
 *     CALLS(DEFINE_CALL)
 *     static const struct call calls[] = {CALLS(LIST_CALL)};
 *
 * and what stands in several of them: calls of which only the result is of interest.
 */
#ifndef TESTS_GPU_ASKING_CALLS_H
#define TESTS_GPU_ASKING_CALLS_H

#include <cuda.h>
#include <stddef.h>

struct call {
    const char *name;
    void (*need)(void);
    CUresult (*call)(void);
};

#define NONE (void)0
#define DEFINE_CALL(id, name, needs, call)                                                         \
    static void need_##id(void)                                                                    \
    {                                                                                              \
        needs;                                                                                     \
    }                                                                                              \
    static CUresult call_##id(void)                                                                \
    {                                                                                              \
        return call;                                                                               \
    }
#define LIST_CALL(id, name, needs, call) {name, need_##id, call_##id},

/* For on_other_thread(). */
static inline CUresult make_call(void *call)
{
    return (*(const struct call *const *)call)->call();
}

#define ARRAY (&(CUDA_ARRAY_DESCRIPTOR){64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1})

static inline CUresult make_pool(CUmemoryPool *pool)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};

    return cuMemPoolCreate(pool, &props);
}

static inline CUresult prefetch(CUdeviceptr managed, CUstream on)
{
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE};

    return cuMemPrefetchAsync(managed, 4096, here, 0, on);
}

static inline CUresult get_flags(CUstream on)
{
    unsigned flags;

    return cuStreamGetFlags(on, &flags);
}

static inline CUresult get_priority(CUstream on)
{
    int priority;

    return cuStreamGetPriority(on, &priority);
}

static inline CUresult get_id(CUstream on)
{
    unsigned long long id;

    return cuStreamGetId(on, &id);
}

static inline CUresult get_context(CUstream on)
{
    CUcontext context;

    return cuStreamGetCtx(on, &context);
}

static inline CUresult memory_info(void)
{
    size_t available, total;

    return cuMemGetInfo(&available, &total);
}

static inline CUresult memory_type(CUdeviceptr of)
{
    unsigned type;

    return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, of);
}

static inline CUresult push_and_pop(CUcontext context)
{
    CUcontext popped;
    CUresult rc = cuCtxPushCurrent(context);

    return rc != CUDA_SUCCESS ? rc : cuCtxPopCurrent(&popped);
}

#endif

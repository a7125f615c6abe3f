/*
 * User objects: the program's own things, which live as long as the program or a graph refers to
 * them. An exec's references end with its last launch, which may be long after its destruction.
 *
 * Destructors run where host functions do, on a stream that belongs to no context: nothing that
 * the program can call waits for them, and one behind a launch holds up those behind it.
 */
#include "api.h"
#include "graph.h"
#include "streams.h"

#include <stdlib.h>

struct CUuserObject_st {
    uint32_t magic;
    unsigned refs; /* the program's and the graphs' */
    CUhostFn destroy;
    void *ptr;
    void *link;
};

struct sim_object_refs {
    struct sim_object_refs *next;
    CUuserObject object;
    unsigned count;
};

static struct sim_slab objects = {sizeof(struct CUuserObject_st), NULL};
static struct CUstream_st endings = {.refs = 1};

static bool is_object(CUuserObject object)
{
    return object && object->magic == MAGIC_USER_OBJECT;
}

/* Runs once the last launch that needs the references is done. */
static void end_references(void *arg)
{
    struct sim_object_refs ended = *(struct sim_object_refs *)arg;
    struct CUuserObject_st last = {0};
    free(arg);
    sim_lock();
    ended.object->refs -= ended.count;
    if (ended.object->refs == 0) {
        last = *ended.object;
        ended.object->magic = 0;
        sim_slab_give_locked(&objects, ended.object);
    }
    sim_unlock();
    if (last.destroy)
        last.destroy(last.ptr);
}

/* Takes `refs` over; without memory for it, the object is never destroyed. */
static void end_later_locked(struct sim_object_refs *refs, const struct sim_fence *after)
{
    struct sim_op *op = sim_op_new_locked();
    if (!op) {
        free(refs);
        return;
    }
    op->work = (struct sim_work){.kind = WORK_HOST, .host = {.fn = end_references, .arg = refs}};
    if (after && after->stream)
        sim_op_fence_locked(op, after->stream, after->seq);
    sim_stream_issue_locked(&endings, op);
}

/* Where the graph's references to the object are linked, or would be. */
static struct sim_object_refs **find(CUgraph graph, CUuserObject object)
{
    struct sim_object_refs **at = &graph->objects;
    while (*at && (*at)->object != object)
        at = &(*at)->next;
    return at;
}

/* Gives the graph so many references, which somebody has counted in object->refs. */
static CUresult give_locked(CUgraph graph, CUuserObject object, unsigned count)
{
    struct sim_object_refs **at = find(graph, object);
    if (!*at) {
        *at = calloc(1, sizeof **at);
        if (!*at)
            return CUDA_ERROR_OUT_OF_MEMORY;
        (*at)->object = object;
    }
    (*at)->count += count;
    return CUDA_SUCCESS;
}

CUresult sim_objects_share_locked(CUgraph from, CUgraph to)
{
    for (struct sim_object_refs *refs = from->objects; refs; refs = refs->next) {
        CUresult result = give_locked(to, refs->object, refs->count);
        if (result != CUDA_SUCCESS)
            return result;
        refs->object->refs += refs->count;
    }
    return CUDA_SUCCESS;
}

void sim_objects_drop_locked(CUgraph graph, const struct sim_fence *after)
{
    for (struct sim_object_refs *refs = graph->objects, *next; refs; refs = next) {
        next = refs->next;
        end_later_locked(refs, after);
    }
    graph->objects = NULL;
}

/* The program's own references end like a graph's that is never launched. */
static CUresult release_locked(CUuserObject object, unsigned count)
{
    struct sim_object_refs *refs = calloc(1, sizeof *refs);
    if (!refs)
        return CUDA_ERROR_OUT_OF_MEMORY;
    refs->object = object;
    refs->count = count;
    end_later_locked(refs, NULL);
    return CUDA_SUCCESS;
}

SIM_API(cuUserObjectCreate,
        (CUuserObject * object_out, void *ptr, CUhostFn destroy, unsigned int initialRefcount,
         unsigned int flags),
        object_out, ptr, destroy, initialRefcount, flags)
{
    if (!object_out || !destroy || initialRefcount == 0 ||
        flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUuserObject object = sim_slab_take_locked(&objects);
    if (object) {
        object->magic = MAGIC_USER_OBJECT;
        object->refs = initialRefcount;
        object->destroy = destroy;
        object->ptr = ptr;
        *object_out = object;
    }
    sim_unlock();
    return object ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_API(cuUserObjectRetain, (CUuserObject object, unsigned int count), object, count)
{
    if (!is_object(object) || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    object->refs += count;
    sim_unlock();
    return CUDA_SUCCESS;
}

SIM_API(cuUserObjectRelease, (CUuserObject object, unsigned int count), object, count)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    if (!is_object(object) || count == 0)
        return result;
    sim_lock();
    if (count <= object->refs)
        result = release_locked(object, count);
    sim_unlock();
    return result;
}

SIM_API(cuGraphRetainUserObject,
        (CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags), graph, object,
        count, flags)
{
    if (!graph || graph->magic != MAGIC_GRAPH || !is_object(object) || count == 0 ||
        (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = give_locked(graph, object, count);
    if (result == CUDA_SUCCESS && !(flags & CU_GRAPH_USER_OBJECT_MOVE))
        object->refs += count;
    sim_unlock();
    return result;
}

SIM_API(cuGraphReleaseUserObject, (CUgraph graph, CUuserObject object, unsigned int count), graph,
        object, count)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    if (!graph || graph->magic != MAGIC_GRAPH || !is_object(object) || count == 0)
        return result;
    sim_lock();
    struct sim_object_refs **at = find(graph, object), *refs = *at;
    if (refs && count < refs->count) {
        result = release_locked(object, count);
        refs->count -= result == CUDA_SUCCESS ? count : 0;
    } else if (refs && count == refs->count) {
        *at = refs->next;
        end_later_locked(refs, NULL);
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

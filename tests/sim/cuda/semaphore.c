/*
 * External semaphores, of file descriptors. The descriptor is one of shared memory, whose first
 * word of 64 bits is the semaphore's value: another party, in this process or not, signals by a
 * store there. Graphics drivers have objects of their own, of which nothing is known here.
 *
 * A timeline counts up: a wait lasts until its value is reached. What is of an opaque descriptor is
 * signalled or not: a wait takes the signal away again.
 */
#include "semaphore.h"

#include "api.h"
#include "capture.h"
#include "streams.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct CUextSemaphore_st {
    uint32_t magic;
    bool is_timeline;
    uint64_t *word;
};

/* What a node does: the program's arrays, copied. Nodes share it. */
struct sim_semaphores {
    unsigned users, count;
    bool signals;
    CUexternalSemaphore *list;
    union {
        void *params;
        CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *signal;
        CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *wait;
    };
};

static bool is_semaphore(CUexternalSemaphore semaphore)
{
    return semaphore && semaphore->magic == MAGIC_SEMAPHORE;
}

/* ---- handles ---- */

static bool is_file(CUexternalSemaphoreHandleType type)
{
    return type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD ||
           type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
}

/* The descriptor is the driver's from now on. */
SIM_API(cuImportExternalSemaphore,
        (CUexternalSemaphore * extSem_out,
         const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *semHandleDesc),
        extSem_out, semHandleDesc)
{
    if (!extSem_out || !semHandleDesc || semHandleDesc->flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_file(semHandleDesc->type))
        return CUDA_ERROR_NOT_SUPPORTED;
    int file = semHandleDesc->handle.fd;
    CUexternalSemaphore semaphore = calloc(1, sizeof *semaphore);
    if (!semaphore)
        return CUDA_ERROR_OUT_OF_MEMORY;
    semaphore->word =
        lseek(file, 0, SEEK_END) < (off_t)sizeof(uint64_t)
            ? MAP_FAILED
            : mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (semaphore->word == MAP_FAILED) {
        free(semaphore);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    close(file);
    semaphore->magic = MAGIC_SEMAPHORE;
    semaphore->is_timeline =
        semHandleDesc->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    *extSem_out = semaphore;
    return CUDA_SUCCESS;
}

/* The program has seen to it that nothing is outstanding. */
SIM_API(cuDestroyExternalSemaphore, (CUexternalSemaphore extSem), extSem)
{
    if (!is_semaphore(extSem))
        return CUDA_ERROR_INVALID_HANDLE;
    munmap(extSem->word, sizeof *extSem->word);
    extSem->magic = 0;
    free(extSem);
    return CUDA_SUCCESS;
}

/* ---- work ---- */

static uint64_t value_of(const struct sim_semaphores *semaphores, unsigned i)
{
    return semaphores->signals ? semaphores->signal[i].params.fence.value
                               : semaphores->wait[i].params.fence.value;
}

static struct sim_work work_of(const struct sim_semaphores *semaphores, unsigned i)
{
    const struct CUextSemaphore_st *semaphore = semaphores->list[i];
    return (struct sim_work){
        .kind = semaphores->signals ? WORK_WRITE_VALUE : WORK_WAIT_VALUE,
        .value = {.address = (uintptr_t)semaphore->word,
                  .value = semaphore->is_timeline ? value_of(semaphores, i) : 1,
                  .flags = CU_STREAM_WAIT_VALUE_GEQ,
                  .wide = true,
                  .is_taken = !semaphores->signals && !semaphore->is_timeline,
                  .access = ACCESS_DIRECT},
    };
}

CUresult sim_semaphores_work_locked(const struct sim_semaphores *semaphores, CUstream stream)
{
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < semaphores->count && result == CUDA_SUCCESS; i++) {
        struct sim_work work = work_of(semaphores, i);
        result = sim_stream_work_locked(stream, &work, NULL);
    }
    return result;
}

/* ---- what nodes keep ---- */

static void *copy_of(const void *from, size_t bytes)
{
    void *copy = malloc(bytes ? bytes : 1);
    if (copy && bytes)
        memcpy(copy, from, bytes);
    return copy;
}

static size_t params_bytes(bool signals)
{
    return signals ? sizeof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS)
                   : sizeof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS);
}

static CUresult make(const CUexternalSemaphore *list, const void *params, unsigned count,
                     bool signals, struct sim_semaphores **made)
{
    if (count && (!list || !params))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if (!is_semaphore(list[i]))
            return CUDA_ERROR_INVALID_HANDLE;
    struct sim_semaphores *semaphores = calloc(1, sizeof *semaphores);
    if (!semaphores)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *semaphores = (struct sim_semaphores){.users = 1, .count = count, .signals = signals};
    semaphores->list = copy_of(list, count * sizeof *list);
    semaphores->params = copy_of(params, count * params_bytes(signals));
    *made = semaphores;
    if (semaphores->list && semaphores->params)
        return CUDA_SUCCESS;
    sim_semaphores_give_locked(semaphores);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

void sim_semaphores_share_locked(struct sim_semaphores *semaphores)
{
    if (semaphores)
        semaphores->users++;
}

void sim_semaphores_give_locked(struct sim_semaphores *semaphores)
{
    if (!semaphores || --semaphores->users)
        return;
    free(semaphores->list);
    free(semaphores->params);
    free(semaphores);
}

/* ---- streams ---- */

static CUresult issue_locked(CUstream stream, struct sim_semaphores *semaphores)
{
    CUgraphNode node;
    if (!stream->capture)
        return sim_semaphores_work_locked(semaphores, stream);
    CUresult result =
        sim_capture_add_locked(stream,
                               semaphores->signals ? CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL
                                                   : CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT,
                               NULL, &node);
    if (result == CUDA_SUCCESS) {
        node->semaphores = semaphores;
        sim_semaphores_share_locked(semaphores);
    }
    return result;
}

static CUresult issue(CUstream dflt, CUstream handle, const CUexternalSemaphore *list,
                      const void *params, unsigned count, bool signals)
{
    CUstream stream;
    struct sim_semaphores *semaphores = NULL;
    CUresult result = make(list, params, count, signals, &semaphores);
    if (result != CUDA_SUCCESS)
        return result;
    sim_lock();
    result = sim_stream_enter_locked(handle, dflt, &stream);
    if (result == CUDA_SUCCESS)
        result = issue_locked(stream, semaphores);
    sim_semaphores_give_locked(semaphores);
    sim_unlock();
    return result;
}

SIM_API_PTSZ(cuSignalExternalSemaphoresAsync,
             (const CUexternalSemaphore *extSemArray,
              const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *paramsArray, unsigned int numExtSems,
              CUstream stream),
             extSemArray, paramsArray, numExtSems, stream)
{
    return issue(dflt, stream, extSemArray, paramsArray, numExtSems, true);
}

SIM_API_PTSZ(cuWaitExternalSemaphoresAsync,
             (const CUexternalSemaphore *extSemArray,
              const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray, unsigned int numExtSems,
              CUstream stream),
             extSemArray, paramsArray, numExtSems, stream)
{
    return issue(dflt, stream, extSemArray, paramsArray, numExtSems, false);
}

/* ---- nodes ---- */

static CUresult make_of(CUgraphNodeType type, const void *params, struct sim_semaphores **made)
{
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL) {
        const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *signal = params;
        return make(signal->extSemArray, signal->paramsArray, signal->numExtSems, true, made);
    }
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS *wait = params;
    return make(wait->extSemArray, wait->paramsArray, wait->numExtSems, false, made);
}

CUresult sim_semaphores_add_node(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps,
                                 size_t count, CUgraphNodeType type, const void *params)
{
    struct sim_semaphores *semaphores = NULL;
    if (!out || !graph || graph->magic != MAGIC_GRAPH || (count && !deps))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = make_of(type, params, &semaphores);
    if (result != CUDA_SUCCESS)
        return result;
    sim_lock();
    CUgraphNode node = sim_graph_add_locked(graph, type, deps, count);
    if (node)
        node->semaphores = semaphores;
    else
        sim_semaphores_give_locked(semaphores);
    sim_unlock();
    if (node)
        *out = node;
    return node ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* `exec`: NULL for a graph's node. */
static CUresult set(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type, const void *params)
{
    struct sim_semaphores *semaphores = NULL;
    CUresult result = make_of(type, params, &semaphores);
    if (result != CUDA_SUCCESS)
        return result;
    sim_lock();
    CUgraphNode own = exec ? sim_exec_node_locked(exec, node) : node;
    struct sim_semaphores *former = semaphores;
    if (own && own->type == type) {
        former = own->semaphores;
        own->semaphores = semaphores;
    } else {
        result = CUDA_ERROR_INVALID_VALUE;
    }
    sim_semaphores_give_locked(former);
    sim_unlock();
    return result;
}

CUresult sim_semaphores_set_node(CUgraphNode node, CUgraphNodeType type, const void *params)
{
    return set(NULL, node, type, params);
}

CUresult sim_semaphores_set_exec(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type,
                                 const void *params)
{
    return exec && exec->magic == MAGIC_EXEC ? set(exec, node, type, params)
                                             : CUDA_ERROR_INVALID_VALUE;
}

/* The arrays are the node's. */
#define NODE(Name, TYPE, field, params_type)                                                       \
    SIM_API(cuGraphAddExternalSemaphores##Name##Node,                                              \
            (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,           \
             size_t numDependencies, const params_type *nodeParams),                               \
            phGraphNode, hGraph, dependencies, numDependencies, nodeParams)                        \
    {                                                                                              \
        return sim_semaphores_add_node(phGraphNode, hGraph, dependencies, numDependencies, TYPE,   \
                                       nodeParams);                                                \
    }                                                                                              \
    SIM_API(cuGraphExternalSemaphores##Name##NodeGetParams,                                        \
            (CUgraphNode hNode, params_type * params_out), hNode, params_out)                      \
    {                                                                                              \
        if (!hNode || hNode->type != TYPE || !params_out)                                          \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        *params_out = (params_type){hNode->semaphores->list, hNode->semaphores->field,             \
                                    hNode->semaphores->count};                                     \
        return CUDA_SUCCESS;                                                                       \
    }                                                                                              \
    SIM_API(cuGraphExternalSemaphores##Name##NodeSetParams,                                        \
            (CUgraphNode hNode, const params_type *nodeParams), hNode, nodeParams)                 \
    {                                                                                              \
        return sim_semaphores_set_node(hNode, TYPE, nodeParams);                                   \
    }                                                                                              \
    SIM_API(cuGraphExecExternalSemaphores##Name##NodeSetParams,                                    \
            (CUgraphExec hGraphExec, CUgraphNode hNode, const params_type *nodeParams),            \
            hGraphExec, hNode, nodeParams)                                                         \
    {                                                                                              \
        return sim_semaphores_set_exec(hGraphExec, hNode, TYPE, nodeParams);                       \
    }

NODE(Signal, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, signal, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS)
NODE(Wait, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, wait, CUDA_EXT_SEM_WAIT_NODE_PARAMS)

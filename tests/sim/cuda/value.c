/* Writing and awaiting values in stream order. A wait polls, as the device does. */
#include "api.h"
#include "capture.h"
#include "copy.h"
#include "graph.h"
#include "memory.h"
#include "streams.h"

CUresult sim_value_bind_locked(struct sim_value *v)
{
    struct sim_range range;
    sim_memory_find_locked(v->address, &range);
    bool reachable = range.kind != MEMORY_INVALID &&
                     (range.kind != MEMORY_PAGEABLE || sim_options.pageable_access);
    if (!reachable || v->address % (v->wide ? 8 : 4) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    v->address = sim_device_view(&range, v->address, &v->access);
    return CUDA_SUCCESS;
}

static CUresult submit_locked(CUstream stream, enum sim_work_kind kind, const struct sim_value *v)
{
    struct sim_work work = {.kind = kind, .value = *v};
    CUresult result = sim_value_bind_locked(&work.value);
    if (result != CUDA_SUCCESS)
        return result;
    return stream->capture
               ? sim_capture_add_locked(stream, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &work, NULL)
               : sim_stream_work_locked(stream, &work, NULL);
}

static CUresult submit(CUstream dflt, CUstream handle, enum sim_work_kind kind,
                       const struct sim_value *v)
{
    CUstream stream;
    sim_lock();
    CUresult result = sim_stream_enter_locked(handle, dflt, &stream);
    if (result == CUDA_SUCCESS)
        result = submit_locked(stream, kind, v);
    sim_unlock();
    return result;
}

#define VALUE_CALL(symbol, type, is_wide, work)                                                    \
    SIM_API_PTSZ(symbol, (CUstream stream, CUdeviceptr addr, type value, unsigned int flags),      \
                 stream, addr, value, flags)                                                       \
    {                                                                                              \
        struct sim_value v = {.address = addr, .value = value, .flags = flags, .wide = is_wide};   \
        return submit(dflt, stream, work, &v);                                                     \
    }

VALUE_CALL(cuStreamWriteValue32, cuuint32_t, false, WORK_WRITE_VALUE)
VALUE_CALL(cuStreamWriteValue32_v2, cuuint32_t, false, WORK_WRITE_VALUE)
VALUE_CALL(cuStreamWriteValue64, cuuint64_t, true, WORK_WRITE_VALUE)
VALUE_CALL(cuStreamWriteValue64_v2, cuuint64_t, true, WORK_WRITE_VALUE)
VALUE_CALL(cuStreamWaitValue32, cuuint32_t, false, WORK_WAIT_VALUE)
VALUE_CALL(cuStreamWaitValue32_v2, cuuint32_t, false, WORK_WAIT_VALUE)
VALUE_CALL(cuStreamWaitValue64, cuuint64_t, true, WORK_WAIT_VALUE)
VALUE_CALL(cuStreamWaitValue64_v2, cuuint64_t, true, WORK_WAIT_VALUE)

/* WORK_MARK: the operation neither writes nor waits. False: it is none. */
static bool describe(const CUstreamBatchMemOpParams *p, struct sim_work *work)
{
    struct sim_value *v = &work->value;
    *work = (struct sim_work){.kind = WORK_MARK};
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        work->kind = WORK_WAIT_VALUE;
        v->wide = p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
        v->address = p->waitValue.address;
        v->value = v->wide ? p->waitValue.value64 : p->waitValue.value;
        v->flags = p->waitValue.flags;
        return true;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        work->kind = WORK_WRITE_VALUE;
        v->wide = p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
        v->address = p->writeValue.address;
        v->value = v->wide ? p->writeValue.value64 : p->writeValue.value;
        return true;
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return true;
    default:
        return false;
    }
}

static CUresult one_locked(CUstream stream, const CUstreamBatchMemOpParams *p)
{
    struct sim_work work;
    if (!describe(p, &work))
        return CUDA_ERROR_INVALID_VALUE;
    return work.kind == WORK_MARK ? CUDA_SUCCESS : submit_locked(stream, work.kind, &work.value);
}

/* ---- nodes: of one operation each ---- */

static CUstreamBatchMemOpParams params_of(const struct sim_work *work)
{
    CUstreamBatchMemOpParams params = {0};
    const struct sim_value *v = &work->value;
    if (work->kind == WORK_WAIT_VALUE) {
        params.waitValue.operation =
            v->wide ? CU_STREAM_MEM_OP_WAIT_VALUE_64 : CU_STREAM_MEM_OP_WAIT_VALUE_32;
        params.waitValue.address = v->address;
        params.waitValue.value64 = v->value;
        params.waitValue.flags = v->flags;
    } else {
        params.writeValue.operation =
            v->wide ? CU_STREAM_MEM_OP_WRITE_VALUE_64 : CU_STREAM_MEM_OP_WRITE_VALUE_32;
        params.writeValue.address = v->address;
        params.writeValue.value64 = v->value;
        params.writeValue.flags = v->flags;
    }
    return params;
}

SIM_API(cuGraphBatchMemOpNodeGetParams,
        (CUgraphNode hNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out), hNode, nodeParams_out)
{
    if (!hNode || hNode->type != CU_GRAPH_NODE_TYPE_BATCH_MEM_OP || !nodeParams_out)
        return CUDA_ERROR_INVALID_VALUE;
    hNode->params.value = params_of(&hNode->work);
    *nodeParams_out =
        (CUDA_BATCH_MEM_OP_NODE_PARAMS){.count = 1, .paramArray = &hNode->params.value};
    return CUDA_SUCCESS;
}

static CUresult batch(CUstream dflt, CUstream handle, unsigned count,
                      const CUstreamBatchMemOpParams *params, unsigned flags)
{
    CUstream stream;
    if (!params || count == 0 || count > 256 || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = sim_stream_enter_locked(handle, dflt, &stream);
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = one_locked(stream, &params[i]);
    sim_unlock();
    return result;
}

SIM_API_PTSZ(cuStreamBatchMemOp,
             (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
              unsigned int flags),
             stream, count, paramArray, flags)
{
    return batch(dflt, stream, count, paramArray, flags);
}

SIM_API_PTSZ(cuStreamBatchMemOp_v2,
             (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
              unsigned int flags),
             stream, count, paramArray, flags)
{
    return batch(dflt, stream, count, paramArray, flags);
}

/* Writing and awaiting values in stream order. A wait polls, as the device does. */
#include "api.h"
#include "capture.h"
#include "copy.h"
#include "memory.h"
#include "memory_ops.h"
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

/* False: it is no operation. */
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

CUresult sim_memory_op_work_locked(const CUstreamBatchMemOpParams *params, struct sim_work *work)
{
    if (!describe(params, work))
        return CUDA_ERROR_INVALID_VALUE;
    return work->kind == WORK_MARK ? CUDA_SUCCESS : sim_value_bind_locked(&work->value);
}

CUresult sim_memory_ops_queue_locked(CUstream stream, unsigned count,
                                     const CUstreamBatchMemOpParams *params)
{
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
        struct sim_work work;
        result = sim_memory_op_work_locked(&params[i], &work);
        if (result == CUDA_SUCCESS && work.kind != WORK_MARK)
            result = sim_stream_work_locked(stream, &work, NULL);
    }
    return result;
}

static CUresult submit(CUstream dflt, CUstream handle, unsigned count,
                       const CUstreamBatchMemOpParams *params)
{
    CUstream stream;
    sim_lock();
    CUresult result = sim_stream_enter_locked(handle, dflt, &stream);
    if (result == CUDA_SUCCESS)
        result = stream->capture ? sim_memory_ops_capture_locked(stream, count, params)
                                 : sim_memory_ops_queue_locked(stream, count, params);
    sim_unlock();
    return result;
}

#define VALUE_CALL(symbol, type, member, OPERATION)                                                \
    SIM_API_PTSZ(symbol, (CUstream stream, CUdeviceptr addr, type value, unsigned int flags),      \
                 stream, addr, value, flags)                                                       \
    {                                                                                              \
        CUstreamBatchMemOpParams params = {.member = {.operation = CU_STREAM_MEM_OP_##OPERATION,   \
                                                      .address = addr,                             \
                                                      .value64 = value,                            \
                                                      .flags = flags}};                            \
        return submit(dflt, stream, 1, &params);                                                   \
    }

VALUE_CALL(cuStreamWriteValue32, cuuint32_t, writeValue, WRITE_VALUE_32)
VALUE_CALL(cuStreamWriteValue32_v2, cuuint32_t, writeValue, WRITE_VALUE_32)
VALUE_CALL(cuStreamWriteValue64, cuuint64_t, writeValue, WRITE_VALUE_64)
VALUE_CALL(cuStreamWriteValue64_v2, cuuint64_t, writeValue, WRITE_VALUE_64)
VALUE_CALL(cuStreamWaitValue32, cuuint32_t, waitValue, WAIT_VALUE_32)
VALUE_CALL(cuStreamWaitValue32_v2, cuuint32_t, waitValue, WAIT_VALUE_32)
VALUE_CALL(cuStreamWaitValue64, cuuint64_t, waitValue, WAIT_VALUE_64)
VALUE_CALL(cuStreamWaitValue64_v2, cuuint64_t, waitValue, WAIT_VALUE_64)

static CUresult batch(CUstream dflt, CUstream handle, unsigned count,
                      const CUstreamBatchMemOpParams *params, unsigned flags)
{
    if (!params || count == 0 || count > OPERATIONS_MAX || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return submit(dflt, handle, count, params);
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

/* Events. An event names its most recent record; waits and queries look at that record alone. */
#include "streams.h"

#include "api.h"
#include "capture.h"
#include "memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static struct sim_slab events = {sizeof(struct CUevent_st), NULL};
static struct sim_slab records = {sizeof(struct sim_record), NULL};

void sim_record_unref_locked(struct sim_record *record)
{
    if (record && --record->refs == 0) {
        sim_stream_unref_locked(record->fence.stream);
        sim_slab_give_locked(&records, record);
    }
}

/* In a file of its own, or in one of another process's. */
static bool share_locked(CUevent event, int file)
{
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (file < 0) {
        file = memfd_create("sim-gpu-event", MFD_CLOEXEC);
        if (file >= 0 && ftruncate(file, (off_t)bytes) != 0)
            return false;
    }
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    event->shared = at == MAP_FAILED ? NULL : at;
    event->file = file;
    return event->shared != NULL;
}

SIM_API(cuEventCreate, (CUevent * phEvent, unsigned int Flags), phEvent, Flags)
{
    if (!phEvent || (Flags & ~7u) ||
        ((Flags & CU_EVENT_INTERPROCESS) && !(Flags & CU_EVENT_DISABLE_TIMING)))
        return CUDA_ERROR_INVALID_VALUE;
    CUcontext context = sim_context_current();
    CUresult result = CUDA_ERROR_INVALID_CONTEXT;
    sim_lock();
    if (sim_context_valid_locked(context)) {
        CUevent event = sim_slab_take_locked(&events);
        result = event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
        if (event) {
            event->magic = MAGIC_EVENT;
            event->flags = Flags;
            event->context = context;
            if ((Flags & CU_EVENT_INTERPROCESS) && !share_locked(event, -1)) {
                event->magic = 0;
                sim_slab_give_locked(&events, event);
                result = CUDA_ERROR_OUT_OF_MEMORY;
            }
        }
        if (result == CUDA_SUCCESS)
            *phEvent = event;
    }
    sim_unlock();
    return result;
}

CUevent sim_event_open_locked(CUcontext context, int file)
{
    CUevent event = sim_slab_take_locked(&events);
    if (!event)
        return NULL;
    event->magic = MAGIC_EVENT;
    event->flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
    event->context = context;
    if (share_locked(event, file))
        return event;
    event->magic = 0;
    sim_slab_give_locked(&events, event);
    return NULL;
}

static CUresult destroy(CUevent event)
{
    CUresult result = CUDA_ERROR_INVALID_HANDLE;
    sim_lock();
    if (event && event->magic == MAGIC_EVENT) {
        sim_capture_forget_event_locked(event);
        sim_record_unref_locked(event->record);
        event->magic = 0;
        sim_slab_give_locked(&events, event);
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

SIM_API(cuEventDestroy, (CUevent hEvent), hEvent)
{
    return destroy(hEvent);
}

SIM_API(cuEventDestroy_v2, (CUevent hEvent), hEvent)
{
    return destroy(hEvent);
}

/* Green contexts share events with their primary one. */
static bool fits_locked(CUevent event, CUstream stream)
{
    return event->context == stream->context ||
           (sim_context_valid_locked(event->context) &&
            sim_context_home_locked(event->context) == sim_context_home_locked(stream->context));
}

/* The stream's next operation is what the event names from now on. */
static CUresult mark_locked(CUevent event, CUstream stream, struct sim_op *op)
{
    struct sim_record *record = op ? sim_slab_take_locked(&records) : NULL;
    if (!record)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_capture_forget_event_locked(event);
    sim_stream_ref_locked(stream);
    record->fence = (struct sim_fence){stream, stream->issued + 1};
    record->refs = 2;
    record->shared = event->shared;
    if (event->shared)
        record->number = atomic_fetch_add(&event->shared->recorded, 1) + 1;
    op->work.kind = WORK_MARK;
    op->work.record = record;
    sim_record_unref_locked(event->record);
    event->record = record;
    sim_stream_issue_locked(stream, op);
    return CUDA_SUCCESS;
}

/* A stream that has no name, and that nothing waits for but what is told to. */
static CUstream nameless_stream_locked(CUcontext context)
{
    CUstream stream = sim_stream_new_locked(context, CU_STREAM_NON_BLOCKING, 0);
    if (stream)
        stream->magic = 0;
    return stream;
}

/* The event waits for what holds the stream up, and the stream goes on not to know of it. */
static CUresult mark_aside_locked(CUevent event, CUstream stream)
{
    CUstream aside = nameless_stream_locked(stream->context);
    struct sim_op *op = aside ? sim_op_new_locked() : NULL;
    if (op) {
        op->work.aside = true;
        sim_op_come_after_locked(op, stream);
    }
    CUresult result = mark_locked(event, aside, op);
    if (aside)
        sim_stream_unref_locked(aside);
    return result;
}

CUresult sim_event_record_locked(CUevent event, CUstream stream)
{
    if (!event || event->magic != MAGIC_EVENT || !fits_locked(event, stream))
        return CUDA_ERROR_INVALID_HANDLE;
    sim_context_use_locked(stream->context, "cuEventRecord");
    if (stream->capture)
        return sim_capture_record_locked(stream, event);
    return sim_stream_is_held_up_locked(stream) ? mark_aside_locked(event, stream)
                                                : mark_locked(event, stream, sim_op_new_locked());
}

/* Has another process recorded it last? */
static bool is_of_others(const struct CUevent_st *event)
{
    const struct sim_record *own = event->record;
    return event->shared && (own ? own->number : 0) != atomic_load(&event->shared->recorded);
}

static bool is_reached_by_others(const struct CUevent_st *event)
{
    return !is_of_others(event) ||
           atomic_load(&event->shared->reached) >= atomic_load(&event->shared->recorded);
}

static CUresult wait_for_others_locked(const struct sim_shared_event *shared, CUstream stream)
{
    struct sim_work work = {.kind = WORK_WAIT_VALUE,
                            .value = {.address = (uintptr_t)&shared->reached,
                                      .value = atomic_load(&shared->recorded),
                                      .wide = true,
                                      .access = ACCESS_DIRECT}};
    return sim_stream_work_locked(stream, &work, NULL);
}

CUresult sim_event_wait_locked(CUevent event, CUstream stream)
{
    if (!event || event->magic != MAGIC_EVENT)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture || event->capture)
        return sim_capture_join_locked(stream, event);
    if (is_of_others(event))
        return wait_for_others_locked(event->shared, stream);
    struct sim_record *record = event->record;
    bool reached = !record || sim_stream_reached(record->fence.stream, record->fence.seq);
    if (!record || (reached && !stream->legacy))
        return CUDA_SUCCESS; /* in the legacy stream it still joins the blocking ones */
    struct sim_op *op = sim_op_new_locked();
    if (!op || (!reached && sim_op_fence_locked(op, record->fence.stream, record->fence.seq) != 0))
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->is_wait = true;
    sim_stream_issue_locked(stream, op);
    return CUDA_SUCCESS;
}

SIM_API_PTSZ(cuEventRecord, (CUevent hEvent, CUstream hStream), hEvent, hStream)
{
    CUstream stream;
    sim_lock();
    CUresult result = sim_stream_enter_locked(hStream, dflt, &stream);
    if (result == CUDA_SUCCESS)
        result = sim_event_record_locked(hEvent, stream);
    sim_unlock();
    return result;
}

SIM_API_PTSZ(cuEventRecordWithFlags, (CUevent hEvent, CUstream hStream, unsigned int flags), hEvent,
             hStream, flags)
{
    CUstream stream;
    if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = sim_stream_enter_locked(hStream, dflt, &stream);
    if (result == CUDA_SUCCESS && flags && !stream->capture)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && flags)
        result = sim_capture_event_node_locked(stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD, hEvent);
    else if (result == CUDA_SUCCESS)
        result = sim_event_record_locked(hEvent, stream);
    sim_unlock();
    return result;
}

SIM_API(cuEventQuery, (CUevent hEvent), hEvent)
{
    if (!hEvent || hEvent->magic != MAGIC_EVENT)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_lock();
    if (!hEvent->context->detached || hEvent->context->ending) /* or else its events live on */
        sim_context_use_locked(hEvent->context, "cuEventQuery");
    CUresult result = sim_capture_event_locked(hEvent);
    struct sim_record *record = hEvent->record;
    bool is_reached = is_of_others(hEvent)
                          ? is_reached_by_others(hEvent)
                          : !record || sim_stream_reached(record->fence.stream, record->fence.seq);
    if (result == CUDA_SUCCESS && !is_reached)
        result = CUDA_ERROR_NOT_READY;
    sim_unlock();
    return result;
}

SIM_API(cuEventSynchronize, (CUevent hEvent), hEvent)
{
    if (!hEvent || hEvent->magic != MAGIC_EVENT)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_lock();
    CUresult result = sim_capture_event_locked(hEvent);
    struct sim_record *record = hEvent->record;
    if (result == CUDA_SUCCESS && record) {
        sim_stream_wait_locked(record->fence.stream, record->fence.seq);
        sim_pools_synchronized_locked();
        result = sim_fault;
    }
    sim_unlock();
    while (result == CUDA_SUCCESS && !is_reached_by_others(hEvent))
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    return result;
}

static CUresult elapsed(float *ms, CUevent start, CUevent end)
{
    if (!ms)
        return CUDA_ERROR_INVALID_VALUE;
    if (!start || !end || start->magic != MAGIC_EVENT || end->magic != MAGIC_EVENT)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = CUDA_SUCCESS;
    sim_lock();
    struct sim_record *from = start->record, *to = end->record;
    if (!from || !to || start->context->device != end->context->device ||
        ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING))
        result = CUDA_ERROR_INVALID_HANDLE;
    else if (!sim_stream_reached(from->fence.stream, from->fence.seq) ||
             !sim_stream_reached(to->fence.stream, to->fence.seq))
        result = CUDA_ERROR_NOT_READY;
    else
        *ms = (float)((double)(int64_t)(to->time_ns - from->time_ns) / 1e6);
    sim_unlock();
    return result;
}

SIM_API(cuEventElapsedTime, (float *pMilliseconds, CUevent hStart, CUevent hEnd), pMilliseconds,
        hStart, hEnd)
{
    return elapsed(pMilliseconds, hStart, hEnd);
}

SIM_API(cuEventElapsedTime_v2, (float *pMilliseconds, CUevent hStart, CUevent hEnd), pMilliseconds,
        hStart, hEnd)
{
    return elapsed(pMilliseconds, hStart, hEnd);
}

/* ---- events of contexts ---- */

/* The primary context speaks for its green ones as well. */
static bool is_part_locked(CUcontext part, CUcontext context)
{
    return part == context || sim_context_home_locked(part) == context;
}

/* INVALID_CONTEXT or INVALID_HANDLE, or 900 where a stream of the context captures. */
static CUresult check_locked(CUcontext context, CUevent event)
{
    if (!sim_context_valid_locked(context) || context->detached)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!event || event->magic != MAGIC_EVENT)
        return CUDA_ERROR_INVALID_HANDLE;
    return sim_capture_whole_locked(context->device, context);
}

static void fence_all_locked(struct sim_op *op, CUcontext context)
{
    for (CUcontext c = sim_contexts; c; c = c->next)
        for (CUstream s = is_part_locked(c, context) ? c->streams : NULL; s; s = s->next)
            sim_op_fence_locked(op, s, s->issued);
}

static CUresult record_context(CUcontext context, CUevent event)
{
    sim_lock();
    CUresult result = check_locked(context, event);
    if (result == CUDA_SUCCESS &&
        sim_context_home_locked(event->context) != sim_context_home_locked(context))
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS) {
        CUstream all = nameless_stream_locked(context);
        struct sim_op *op = all ? sim_op_new_locked() : NULL;
        if (op)
            fence_all_locked(op, context);
        result = mark_locked(event, all, op);
        if (all)
            sim_stream_unref_locked(all);
    }
    sim_unlock();
    return result;
}

/* Its streams, and those of the green contexts of a primary one, pass the gate with their next
 * operations, which a query, a synchronise, and the record of or a wait for an event are not. */
static CUresult wait_at_gate_locked(CUcontext context, CUevent event)
{
    if (!context->gate)
        context->gate = nameless_stream_locked(context);
    return context->gate ? sim_event_wait_locked(event, context->gate) : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_context_precedes_locked(CUcontext context, CUstream stream)
{
    if (!sim_context_valid_locked(context))
        return CUDA_SUCCESS;
    struct sim_op *op = sim_op_new_locked();
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fence_all_locked(op, context);
    sim_stream_issue_locked(stream, op);
    return CUDA_SUCCESS;
}

CUresult sim_context_follows_locked(CUcontext context, CUstream stream)
{
    if (!sim_context_valid_locked(context))
        return CUDA_SUCCESS;
    if (context->serialized.stream)
        sim_stream_unref_locked(context->serialized.stream);
    sim_stream_ref_locked(stream);
    context->serialized = (struct sim_fence){stream, stream->issued};
    bool all = true;
    for (CUstream s = context->streams; s; s = s->next)
        if (s != stream && s != context->gate)
            all &= sim_stream_follow_serialized_locked(s);
    return all ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_context_meets_locked(CUcontext context, CUstream stream)
{
    CUstream legacy = NULL;
    CUresult result = sim_stream_legacy_locked(context, &legacy);
    struct sim_op *there = result == CUDA_SUCCESS ? sim_op_new_locked() : NULL;
    struct sim_op *here = there ? sim_op_new_locked() : NULL;
    if (!here)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_op_fence_locked(there, stream, stream->issued);
    sim_stream_issue_locked(legacy, there);
    sim_op_fence_locked(here, legacy, legacy->issued);
    sim_stream_issue_locked(stream, here);
    return CUDA_SUCCESS;
}

static CUresult wait_context(CUcontext context, CUevent event)
{
    sim_lock();
    CUresult result = check_locked(context, event);
    if (result == CUDA_SUCCESS && event->capture) {
        event->capture->invalidated = true;
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (result == CUDA_SUCCESS)
        result = wait_at_gate_locked(context, event);
    sim_unlock();
    return result;
}

SIM_API(cuCtxRecordEvent, (CUcontext hCtx, CUevent hEvent), hCtx, hEvent)
{
    return record_context(hCtx, hEvent);
}

SIM_API(cuCtxWaitEvent, (CUcontext hCtx, CUevent hEvent), hCtx, hEvent)
{
    return wait_context(hCtx, hEvent);
}

SIM_API(cuGreenCtxRecordEvent, (CUgreenCtx hCtx, CUevent hEvent), hCtx, hEvent)
{
    return record_context((CUcontext)(void *)hCtx, hEvent);
}

SIM_API(cuGreenCtxWaitEvent, (CUgreenCtx hCtx, CUevent hEvent), hCtx, hEvent)
{
    return wait_context((CUcontext)(void *)hCtx, hEvent);
}

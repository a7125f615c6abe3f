/* What each call does to a capture, and the capture to it. */
#include "world.h"

#include "../../asking_calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* ---- Q1: what each call does to a capture ---- */

/* What one call makes or consumes; whatever is left is let go behind the capture. */
static struct scratch {
    CUdeviceptr memory;
    size_t pitch;
    void *host, *registered;
    CUarray array;
    CUevent event;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUmodule module;
    CUfunction function;
    CUmemoryPool pool;
    CUcontext context;
    CUuserObject object;
    bool retained;
} s;

static CUstream capturing;
static CUevent timed, timed2;
static CUfunction attribute_kernel;
static unsigned char *plain, *spare, *page_locked;
static CUdeviceptr managed, word;

static void CUDA_CB nothing_of_stream(CUstream stream, CUresult status, void *unused)
{
    (void)stream, (void)status, (void)unused;
}

static void make_graph(void)
{
    CUDA_MEMSET_NODE_PARAMS p = {.dst = dev_b, .elementSize = 1, .width = 16, .height = 1};
    CUgraphNode node;

    TRY(cuGraphCreate(&s.graph, 0));
    TRY(cuGraphAddMemsetNode(&node, s.graph, NULL, 0, &p, primary));
}

static void make_exec(void)
{
    make_graph();
    s.exec = instantiate(s.graph);
}

static CUresult allocate_in_capture(void)
{
    CUdeviceptr of_graph;

    return cuMemAllocAsync(&of_graph, 4 * KB, capturing);
}

static CUresult copy_batch(CUstream stream)
{
    CUdeviceptr to = dev_a, from = uva(page_locked);
    size_t size_bytes = 4 * KB, index = 0;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};

    return cuMemcpyBatchAsync(&to, &from, &size_bytes, 1, &attributes, &index, 1, stream);
}

static CUresult ask_memory_type(void)
{
    unsigned type;

    return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, dev_a);
}

static CUresult capture_info(CUstream stream)
{
    CUstreamCaptureStatus status;
    cuuint64_t id;

    return cuStreamGetCaptureInfo(stream, &status, &id, NULL, NULL, NULL, NULL);
}

static CUresult is_capturing(CUstream stream)
{
    CUstreamCaptureStatus status;

    return cuStreamIsCapturing(stream, &status);
}

static CUresult retain_in_capture(void)
{
    CUstreamCaptureStatus status;
    cuuint64_t id;
    CUgraph graph = NULL;
    CUresult rc = cuStreamGetCaptureInfo(capturing, &status, &id, &graph, NULL, NULL, NULL);

    return rc ? rc : cuGraphRetainUserObject(graph, s.object, 1, 0);
}

static CUresult host_flags(void)
{
    unsigned flags;

    return cuMemHostGetFlags(&flags, page_locked);
}

static CUresult device_pointer(void)
{
    CUdeviceptr at;

    return cuMemHostGetDevicePointer(&at, page_locked, 0);
}

static CUresult per_thread_copy(void)
{
    static CUresult (*call)(CUdeviceptr, const void *, size_t);

    if (!call)
        call = (__typeof__(call))dlsym(RTLD_DEFAULT, "cuMemcpyHtoD_v2_ptds");
    return call ? call(dev_a, plain, 4 * KB) : CUDA_ERROR_NOT_FOUND;
}

static CUresult per_thread_async_copy(void)
{
    static CUresult (*call)(CUdeviceptr, const void *, size_t, CUstream);

    if (!call)
        call = (__typeof__(call))dlsym(RTLD_DEFAULT, "cuMemcpyHtoDAsync_v2_ptsz");
    return call ? call(dev_a, page_locked, 4 * KB, NULL) : CUDA_ERROR_NOT_FOUND;
}

static CUresult retain_primary(void)
{
    CUcontext context;
    CUresult rc = cuDevicePrimaryCtxRetain(&context, device);

    s.retained = rc == CUDA_SUCCESS;
    return rc;
}

static CUresult release_primary(void)
{
    CUresult rc = cuDevicePrimaryCtxRelease(device);

    s.retained = rc != CUDA_SUCCESS;
    return rc;
}

static CUresult elapsed(void)
{
    float ms;

    return cuEventElapsedTime(&ms, timed, timed2);
}

static CUresult current(void)
{
    CUcontext context;

    return cuCtxGetCurrent(&context);
}

static CUresult free_in(CUstream stream)
{
    return cuMemFreeAsync(s.memory, stream);
}

/* The call, which has taken the thing away if it succeeds. */
#define GONE(thing, call)                                                                          \
    __extension__({                                                                                \
        CUresult rc_ = (call);                                                                     \
        if (rc_ == CUDA_SUCCESS)                                                                   \
            (thing) = 0;                                                                           \
        rc_;                                                                                       \
    })

/* X(id, name, what it needs, the call) */
#define CALLS(X)                                                                                   \
    X(alloc, "cuMemAlloc", NONE, cuMemAlloc(&s.memory, 4 * KB))                                    \
    X(pitch, "cuMemAllocPitch", NONE, cuMemAllocPitch(&s.memory, &s.pitch, 64, 4, 4))              \
    X(free, "cuMemFree", TRY(cuMemAlloc(&s.memory, 4 * KB)), GONE(s.memory, cuMemFree(s.memory)))  \
    X(managed, "cuMemAllocManaged", NONE,                                                          \
      cuMemAllocManaged(&s.memory, 4 * KB, CU_MEM_ATTACH_GLOBAL))                                  \
    X(host_alloc, "cuMemHostAlloc", NONE, cuMemHostAlloc(&s.host, 4 * KB, 0))                      \
    X(alloc_host, "cuMemAllocHost", NONE, cuMemAllocHost(&s.host, 4 * KB))                         \
    X(free_host, "cuMemFreeHost", TRY(cuMemAllocHost(&s.host, 4 * KB)),                            \
      GONE(s.host, cuMemFreeHost(s.host)))                                                         \
    X(reg, "cuMemHostRegister", s.registered = spare, cuMemHostRegister(s.registered, 4 * KB, 0))  \
    X(unreg, "cuMemHostUnregister",                                                                \
      (s.registered = spare, TRY(cuMemHostRegister(spare, 4 * KB, 0))),                            \
      GONE(s.registered, cuMemHostUnregister(s.registered)))                                       \
    X(dev_ptr, "cuMemHostGetDevicePointer", NONE, device_pointer())                                \
    X(host_flags, "cuMemHostGetFlags", NONE, host_flags())                                         \
    X(array, "cuArrayCreate", NONE, cuArrayCreate(&s.array, ARRAY))                                \
    X(array_end, "cuArrayDestroy", TRY(cuArrayCreate(&s.array, ARRAY)),                            \
      GONE(s.array, cuArrayDestroy(s.array)))                                                      \
    X(mem_info, "cuMemGetInfo", NONE, memory_info())                                               \
    X(attribute, "cuPointerGetAttribute", NONE, ask_memory_type())                                 \
    X(ev_create, "cuEventCreate", NONE, cuEventCreate(&s.event, CU_EVENT_DISABLE_TIMING))          \
    X(ev_destroy, "cuEventDestroy", TRY(cuEventCreate(&s.event, CU_EVENT_DISABLE_TIMING)),         \
      GONE(s.event, cuEventDestroy(s.event)))                                                      \
    X(ev_query, "cuEventQuery", NONE, cuEventQuery(event))                                         \
    X(ev_sync, "cuEventSynchronize", NONE, cuEventSynchronize(event))                              \
    X(ev_elapsed, "cuEventElapsedTime", NONE, elapsed())                                           \
    X(ev_record, "cuEventRecord, other N", NONE, cuEventRecord(event2, nonblocking2))              \
    X(ev_record_b, "cuEventRecord, other B", NONE, cuEventRecord(event2, blocking2))               \
    X(ev_record_l, "cuEventRecord, L", NONE, cuEventRecord(event2, LEGACY))                        \
    X(wait_n, "cuStreamWaitEvent, other N", NONE, cuStreamWaitEvent(nonblocking2, event, 0))       \
    X(wait_b, "cuStreamWaitEvent, other B", NONE, cuStreamWaitEvent(blocking2, event, 0))          \
    X(wait_l, "cuStreamWaitEvent, L", NONE, cuStreamWaitEvent(LEGACY, event, 0))                   \
    X(wait_c, "cuStreamWaitEvent, capturing", NONE, cuStreamWaitEvent(capturing, event, 0))        \
    X(st_create, "cuStreamCreate N", NONE, cuStreamCreate(&s.stream, CU_STREAM_NON_BLOCKING))      \
    X(st_create_b, "cuStreamCreate B", NONE, cuStreamCreate(&s.stream, CU_STREAM_DEFAULT))         \
    X(st_destroy, "cuStreamDestroy, other", TRY(cuStreamCreate(&s.stream, CU_STREAM_DEFAULT)),     \
      GONE(s.stream, cuStreamDestroy(s.stream)))                                                   \
    X(st_query, "cuStreamQuery, other N", NONE, cuStreamQuery(nonblocking2))                       \
    X(st_query_b, "cuStreamQuery, other B", NONE, cuStreamQuery(blocking2))                        \
    X(st_query_l, "cuStreamQuery, L", NONE, cuStreamQuery(LEGACY))                                 \
    X(st_query_c, "cuStreamQuery, capturing", NONE, cuStreamQuery(capturing))                      \
    X(st_sync, "cuStreamSynchronize, other N", NONE, cuStreamSynchronize(nonblocking2))            \
    X(st_sync_b, "cuStreamSynchronize, other B", NONE, cuStreamSynchronize(blocking2))             \
    X(st_sync_l, "cuStreamSynchronize, L", NONE, cuStreamSynchronize(LEGACY))                      \
    X(ctx_sync, "cuCtxSynchronize", NONE, cuCtxSynchronize())                                      \
    X(flags_c, "cuStreamGetFlags, capturing", NONE, get_flags(capturing))                          \
    X(flags_n, "cuStreamGetFlags, other N", NONE, get_flags(nonblocking2))                         \
    X(flags_l, "cuStreamGetFlags, L", NONE, get_flags(LEGACY))                                     \
    X(ctx_c, "cuStreamGetCtx, capturing", NONE, get_context(capturing))                            \
    X(ctx_n, "cuStreamGetCtx, other N", NONE, get_context(nonblocking2))                           \
    X(ctx_l, "cuStreamGetCtx, L", NONE, get_context(LEGACY))                                       \
    X(prio_c, "cuStreamGetPriority, capturing", NONE, get_priority(capturing))                     \
    X(prio_n, "cuStreamGetPriority, other N", NONE, get_priority(nonblocking2))                    \
    X(prio_l, "cuStreamGetPriority, L", NONE, get_priority(LEGACY))                                \
    X(id_c, "cuStreamGetId, capturing", NONE, get_id(capturing))                                   \
    X(id_n, "cuStreamGetId, other N", NONE, get_id(nonblocking2))                                  \
    X(id_l, "cuStreamGetId, L", NONE, get_id(LEGACY))                                              \
    X(info_c, "cuStreamGetCaptureInfo, capturing", NONE, capture_info(capturing))                  \
    X(info_n, "cuStreamGetCaptureInfo, other N", NONE, capture_info(nonblocking2))                 \
    X(info_l, "cuStreamGetCaptureInfo, L", NONE, capture_info(LEGACY))                             \
    X(is_c, "cuStreamIsCapturing, capturing", NONE, is_capturing(capturing))                       \
    X(is_l, "cuStreamIsCapturing, L", NONE, is_capturing(LEGACY))                                  \
    X(htod, "cuMemcpyHtoD pageable", NONE, cuMemcpyHtoD(dev_a, plain, 4 * KB))                     \
    X(htod_pin, "cuMemcpyHtoD pinned", NONE, cuMemcpyHtoD(dev_a, page_locked, 4 * KB))             \
    X(dtoh, "cuMemcpyDtoH pageable", NONE, cuMemcpyDtoH(plain, dev_a, 4 * KB))                     \
    X(dtoh_pin, "cuMemcpyDtoH pinned", NONE, cuMemcpyDtoH(page_locked, dev_a, 4 * KB))             \
    X(ptds, "cuMemcpyHtoD_v2_ptds pageable", NONE, per_thread_copy())                              \
    X(ptsz, "cuMemcpyHtoDAsync_v2_ptsz", NONE, per_thread_async_copy())                            \
    X(unified, "cuMemcpy", NONE, cuMemcpy(dev_a, uva(page_locked), 4 * KB))                        \
    X(dtod, "cuMemcpyDtoD", NONE, cuMemcpyDtoD(dev_a, dev_b, 4 * KB))                              \
    X(memset, "cuMemsetD8", NONE, cuMemsetD8(dev_a, 0, 4 * KB))                                    \
    X(async_l, "cuMemcpyHtoDAsync, L", NONE,                                                       \
      cuMemcpyHtoDAsync(dev_a, page_locked, 4 * KB, LEGACY))                                       \
    X(async_b, "cuMemcpyHtoDAsync, other B", NONE,                                                 \
      cuMemcpyHtoDAsync(dev_a, page_locked, 4 * KB, blocking2))                                    \
    X(async_c, "cuMemcpyHtoDAsync pageable, capturing", NONE,                                      \
      cuMemcpyHtoDAsync(dev_a, plain, 4 * KB, capturing))                                          \
    X(set_l, "cuMemsetD8Async, L", NONE, cuMemsetD8Async(dev_a, 0, 4 * KB, LEGACY))                \
    X(batch_c, "cuMemcpyBatchAsync, capturing", NONE, copy_batch(capturing))                       \
    X(batch_n, "cuMemcpyBatchAsync, other N", NONE, copy_batch(nonblocking2))                      \
    X(batch_l, "cuMemcpyBatchAsync, L", NONE, copy_batch(LEGACY))                                  \
    X(aalloc_l, "cuMemAllocAsync, L", NONE, cuMemAllocAsync(&s.memory, 4 * KB, LEGACY))            \
    X(aalloc_n, "cuMemAllocAsync, other N", NONE,                                                  \
      cuMemAllocAsync(&s.memory, 4 * KB, nonblocking2))                                            \
    X(aalloc_c, "cuMemAllocAsync, capturing", NONE, allocate_in_capture())                         \
    X(afree_l, "cuMemFreeAsync, L", TRY(cuMemAllocAsync(&s.memory, 4 * KB, nonblocking2)),         \
      GONE(s.memory, free_in(LEGACY)))                                                             \
    X(afree_n, "cuMemFreeAsync, other N", TRY(cuMemAllocAsync(&s.memory, 4 * KB, nonblocking2)),   \
      GONE(s.memory, free_in(nonblocking2)))                                                       \
    X(prefetch_n, "cuMemPrefetchAsync, other N", NONE, prefetch(managed, nonblocking2))            \
    X(prefetch_c, "cuMemPrefetchAsync, capturing", NONE, prefetch(managed, capturing))             \
    X(hostfn_l, "cuLaunchHostFunc, L", NONE, cuLaunchHostFunc(LEGACY, nothing, NULL))              \
    X(hostfn_n, "cuLaunchHostFunc, other N", NONE, cuLaunchHostFunc(nonblocking2, nothing, NULL))  \
    X(hostfn_c, "cuLaunchHostFunc, capturing", NONE, cuLaunchHostFunc(capturing, nothing, NULL))   \
    X(callback_l, "cuStreamAddCallback, L", NONE,                                                  \
      cuStreamAddCallback(LEGACY, nothing_of_stream, NULL, 0))                                     \
    X(callback_n, "cuStreamAddCallback, other N", NONE,                                            \
      cuStreamAddCallback(nonblocking2, nothing_of_stream, NULL, 0))                               \
    X(callback_c, "cuStreamAddCallback, capturing", NONE,                                          \
      cuStreamAddCallback(capturing, nothing_of_stream, NULL, 0))                                  \
    X(write_l, "cuStreamWriteValue32, L", NONE, cuStreamWriteValue32(LEGACY, word, 1, 0))          \
    X(write_n, "cuStreamWriteValue32, other N", NONE,                                              \
      cuStreamWriteValue32(nonblocking2, word, 1, 0))                                              \
    X(launch_l, "cuGraphLaunch, L", make_exec(), cuGraphLaunch(s.exec, LEGACY))                    \
    X(launch_n, "cuGraphLaunch, other N", make_exec(), cuGraphLaunch(s.exec, nonblocking2))        \
    X(launch_c, "cuGraphLaunch, capturing", make_exec(), cuGraphLaunch(s.exec, capturing))         \
    X(inst, "cuGraphInstantiate", make_graph(), cuGraphInstantiate(&s.exec, s.graph, 0))           \
    X(upload_n, "cuGraphUpload, other N", make_exec(), cuGraphUpload(s.exec, nonblocking2))        \
    X(upload_l, "cuGraphUpload, L", make_exec(), cuGraphUpload(s.exec, LEGACY))                    \
    X(exec_end, "cuGraphExecDestroy", make_exec(), GONE(s.exec, cuGraphExecDestroy(s.exec)))       \
    X(graph_end, "cuGraphDestroy", make_graph(), GONE(s.graph, cuGraphDestroy(s.graph)))           \
    X(object, "cuUserObjectCreate", NONE,                                                          \
      cuUserObjectCreate(&s.object, &s, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC))            \
    X(object_end, "cuUserObjectRelease",                                                           \
      TRY(cuUserObjectCreate(&s.object, &s, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)),       \
      GONE(s.object, cuUserObjectRelease(s.object, 1)))                                            \
    X(object_in, "cuGraphRetainUserObject, capturing's",                                           \
      TRY(cuUserObjectCreate(&s.object, &s, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)),       \
      retain_in_capture())                                                                         \
    X(mod_load, "cuModuleLoadData", NONE, cuModuleLoadData(&s.module, kernels_ptx))                \
    X(mod_func, "cuModuleGetFunction", TRY(cuModuleLoadData(&s.module, kernels_ptx)),              \
      cuModuleGetFunction(&s.function, s.module, "spin"))                                          \
    X(mod_end, "cuModuleUnload", TRY(cuModuleLoadData(&s.module, kernels_ptx)),                    \
      GONE(s.module, cuModuleUnload(s.module)))                                                    \
    X(func_set, "cuFuncSetAttribute", NONE,                                                        \
      cuFuncSetAttribute(attribute_kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, KB))   \
    X(pool, "cuMemPoolCreate", NONE, make_pool(&s.pool))                                           \
    X(pool_trim, "cuMemPoolTrimTo", TRY(make_pool(&s.pool)), cuMemPoolTrimTo(s.pool, 0))           \
    X(ctx_get, "cuCtxGetCurrent", NONE, current())                                                 \
    X(ctx_push, "cuCtxPushCurrent and Pop", NONE, push_and_pop(primary))                           \
    X(retain, "cuDevicePrimaryCtxRetain", NONE, retain_primary())                                  \
    X(release, "cuDevicePrimaryCtxRelease", TRY(retain_primary()), release_primary())              \
    X(ctx_create, "cuCtxCreate", NONE, cuCtxCreate(&s.context, NULL, 0, device))

CALLS(DEFINE_CALL)
static const struct call calls[] = {CALLS(LIST_CALL)};

static const struct situation {
    const char *name;
    unsigned flags;
    CUstreamCaptureMode mode;
    bool other_thread, exchanged;
} situations[] = {
    {"B,G", CU_STREAM_DEFAULT, CU_STREAM_CAPTURE_MODE_GLOBAL, false, false},
    {"B,G,exch", CU_STREAM_DEFAULT, CU_STREAM_CAPTURE_MODE_GLOBAL, false, true},
    {"B,R", CU_STREAM_DEFAULT, CU_STREAM_CAPTURE_MODE_RELAXED, false, false},
    {"N,G", CU_STREAM_NON_BLOCKING, CU_STREAM_CAPTURE_MODE_GLOBAL, false, false},
    {"N,G,thread", CU_STREAM_NON_BLOCKING, CU_STREAM_CAPTURE_MODE_GLOBAL, true, false},
    {"N,T,thread", CU_STREAM_NON_BLOCKING, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, true, false},
    {"N,T", CU_STREAM_NON_BLOCKING, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, false, false},
    {"N,R", CU_STREAM_NON_BLOCKING, CU_STREAM_CAPTURE_MODE_RELAXED, false, false},
    {"N,G,exch", CU_STREAM_NON_BLOCKING, CU_STREAM_CAPTURE_MODE_GLOBAL, false, true},
};

static void prepare_q1(void)
{
    CUmodule module;

    plain = take(PAGEABLE, 64 * KB);
    spare = take(PAGEABLE, 64 * KB);
    page_locked = take(PINNED, 64 * KB);
    TRY(cuMemAlloc(&word, 4 * KB));
    TRY(cuMemAllocManaged(&managed, 64 * KB, CU_MEM_ATTACH_GLOBAL));
    TRY(cuEventCreate(&timed, CU_EVENT_DEFAULT));
    TRY(cuEventCreate(&timed2, CU_EVENT_DEFAULT));
    TRY(cuEventRecord(timed, nonblocking));
    TRY(cuEventRecord(timed2, nonblocking));
    TRY(cuEventRecord(event, nonblocking));
    attribute_kernel = load_kernel("spin", &module);
    settle();
}

/* Errors are of no interest here: what the call did with the thing is not always known. */
static void let_go(void)
{
    cuCtxSynchronize();
    if (s.memory)
        cuMemFree(s.memory);
    if (s.host)
        cuMemFreeHost(s.host);
    if (s.registered)
        cuMemHostUnregister(s.registered);
    if (s.array)
        cuArrayDestroy(s.array);
    if (s.event)
        cuEventDestroy(s.event);
    if (s.stream)
        cuStreamDestroy(s.stream);
    if (s.exec)
        cuGraphExecDestroy(s.exec);
    if (s.graph)
        cuGraphDestroy(s.graph);
    if (s.module)
        cuModuleUnload(s.module);
    if (s.pool)
        cuMemPoolDestroy(s.pool);
    if (s.object)
        cuUserObjectRelease(s.object, 1);
    if (s.retained)
        cuDevicePrimaryCtxRelease(device);
    if (s.context)
        cuCtxDestroy(s.context);
    cuCtxSetCurrent(primary);
    memset(&s, 0, sizeof s);
}

static void visit(const struct call *call, const struct situation *at)
{
    CUresult rc;
    size_t nodes;

    call->need();
    settle();
    TRY(cuStreamCreate(&capturing, at->flags));
    if (begin_capture(capturing, at->mode) == CUDA_SUCCESS) {
        CUstreamCaptureMode before = CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (at->exchanged)
            before = exchange(CU_STREAM_CAPTURE_MODE_RELAXED);
        rc = at->other_thread ? on_other_thread(make_call, &call, primary) : call->call();
        if (at->exchanged)
            exchange(before);
        if (s.context)
            cuCtxSetCurrent(primary);
        CUresult end = drop_capture(capturing, &nodes);
        char text[32];
        int used = snprintf(text, sizeof text, "%d/%d", (int)rc, (int)end);
        if (end == CUDA_SUCCESS && nodes != 1)
            snprintf(text + used, sizeof text - (size_t)used, "%+d", (int)nodes - 1);
        say(" %-10s", text);
    }
    cuStreamDestroy(capturing);
    let_go();
}

/* Part 1 is the head of the table, each row another. */
void q1(void)
{
    prepare_q1();
    if (begin_part(1)) {
        say("Q1 capturing stream B or N; G Global, T ThreadLocal, R Relaxed; the call by the same "
            "thread or by another, exch: its mode exchanged to Relaxed\nQ1 %-38s",
            "");
        for (size_t i = 0; i < COUNT(situations); i++)
            say(" %-10s", situations[i].name);
        end_line();
    }
    for (unsigned row = 0; row < COUNT(calls); row++) {
        if (!begin_part(row + 2))
            continue;
        say("Q1 %-38s", calls[row].name);
        for (size_t i = 0; i < COUNT(situations); i++)
            visit(&calls[row], &situations[i]);
        end_line();
    }
}

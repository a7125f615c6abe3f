/* probe_capture: asks the CUDA driver how captures and graphs really behave.
 *
 *     gcc -std=gnu11 -O2 -pthread -rdynamic -I/usr/local/cuda/include tests/gpu/probe_capture.c \
 *         -o probe_capture -ldl -lcuda
 *     ./probe_capture          every question, under 40 s
 *     ./probe_capture 4 7      these only
 *
 * Each question is answered in a child process, which does its own cuInit. A child that crashes or
 * hangs costs the line it was at: the parent says of which signal it died, and a fresh child goes
 * on with the next line. A driver call that fails where nobody expects it is shown as
 * {name=CUresult}.
 *
 * Words in the answers: B is a blocking stream, N a non-blocking one, L the legacy stream; "a/b" is
 * the result of a call during a capture and of cuStreamEndCapture, with "+n" for n nodes that it
 * added to the graph.
 */
// cflags: -rdynamic
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KB 1024UL
#define MB (1024UL * KB)
#define LEGACY ((CUstream)0)
#define BUSY_MS 100
#define BUFFER_BYTES (64 * MB)
#define AT_ONCE_MS 20
#define CHILD_LIMIT_S 12
#define TOTAL_LIMIT_S 38

/* ---- answers ---- */

/* Shared with the parent, which learns from it where a child died. */
static struct progress {
    size_t question;
    unsigned part; /* of the question: what a fresh child goes on behind */
    bool midway;   /* in a line that is begun and not ended */
} * progress;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
    progress->midway = true;
}

static void end_line(void)
{
    putchar('\n');
    fflush(stdout);
    progress->midway = false;
}

/* Shows a failed call by its name, cut at the parenthesis; hands the result on. */
static CUresult check(const char *call, CUresult rc)
{
    if (rc != CUDA_SUCCESS)
        say(" {%.*s=%d}", (int)strcspn(call, "("), call, (int)rc);
    return rc;
}

#define TRY(call) check(#call, (call))

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static double ms_since(uint64_t start_ns)
{
    return (double)(now_ns() - start_ns) / 1e6;
}

static void sleep_ms(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000L};

    nanosleep(&t, NULL);
}

/* The time of one call as an expression; its result is shown when it failed. */
#define MS(call)                                                                                   \
    __extension__({                                                                                \
        uint64_t begin_ns_ = now_ns();                                                             \
        CUresult rc_ = (call);                                                                     \
        double took_ = ms_since(begin_ns_);                                                        \
        check(#call, rc_);                                                                         \
        took_;                                                                                     \
    })

static void say_took(double ms)
{
    if (ms < 1)
        say("%.0f us", ms * 1e3);
    else
        say("%.1f ms%s", ms, ms > AT_ONCE_MS ? " (BLOCKS)" : "");
}

static const char *yes_no(bool yes)
{
    return yes ? "yes" : "no";
}

/* ---- the world that every question finds ---- */

static CUdevice device;
static CUcontext primary;
static CUfunction spin_kernel;
static CUstream blocking, blocking2, nonblocking, nonblocking2;
static CUdeviceptr dev_a, dev_b;
static CUevent event, event2;

static const char spin_ptx[] = ".version 7.0\n"
                               ".target sm_52\n"
                               ".address_size 64\n"
                               ".visible .entry spin(.param .u64 duration_ns)\n"
                               "{\n"
                               "    .reg .pred %more;\n"
                               "    .reg .u64 %limit, %begin, %now, %passed;\n"
                               "    ld.param.u64 %limit, [duration_ns];\n"
                               "    mov.u64 %begin, %globaltimer;\n"
                               "again:\n"
                               "    mov.u64 %now, %globaltimer;\n"
                               "    sub.u64 %passed, %now, %begin;\n"
                               "    setp.lt.u64 %more, %passed, %limit;\n"
                               "    @%more bra again;\n"
                               "    ret;\n"
                               "}\n";

static void occupy(CUstream stream, unsigned ms)
{
    uint64_t duration_ns = (uint64_t)ms * 1000000U;
    void *params[] = {&duration_ns};

    TRY(cuLaunchKernel(spin_kernel, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

static void settle(void)
{
    TRY(cuCtxSynchronize());
}

static CUdeviceptr uva(const void *host)
{
    return (CUdeviceptr)(uintptr_t)host;
}

static CUresult set_up(void)
{
    CUmodule module = NULL;
    CUresult rc = TRY(cuInit(0));

    if (rc != CUDA_SUCCESS || (rc = TRY(cuDeviceGet(&device, 0))) != CUDA_SUCCESS)
        return rc;
    rc = TRY(cuDevicePrimaryCtxRetain(&primary, device));
    if (rc != CUDA_SUCCESS || (rc = TRY(cuCtxSetCurrent(primary))) != CUDA_SUCCESS)
        return rc;
    if ((rc = TRY(cuModuleLoadData(&module, spin_ptx))) != CUDA_SUCCESS)
        return rc;
    TRY(cuModuleGetFunction(&spin_kernel, module, "spin"));
    TRY(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    TRY(cuStreamCreate(&blocking2, CU_STREAM_DEFAULT));
    TRY(cuStreamCreate(&nonblocking, CU_STREAM_NON_BLOCKING));
    TRY(cuStreamCreate(&nonblocking2, CU_STREAM_NON_BLOCKING));
    TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    TRY(cuEventCreate(&event2, CU_EVENT_DISABLE_TIMING));
    TRY(cuMemAlloc(&dev_a, BUFFER_BYTES));
    rc = TRY(cuMemAlloc(&dev_b, BUFFER_BYTES));
    occupy(nonblocking, 1);
    TRY(cuMemsetD8(dev_a, 0, BUFFER_BYTES));
    settle();
    return rc;
}

/* ---- memory of the three kinds ---- */

enum kind { PAGEABLE, PINNED, REGISTERED, KINDS };
static const char *const kind_names[KINDS] = {"pageable", "pinned", "registered"};

static unsigned char *map_pages(size_t size_bytes)
{
    void *p = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    memset(p, 0, size_bytes);
    return p;
}

static unsigned char *take(enum kind kind, size_t size_bytes)
{
    unsigned char *p = NULL;

    if (kind == PINNED) {
        TRY(cuMemAllocHost((void **)&p, size_bytes));
        return p;
    }
    p = map_pages(size_bytes);
    if (p != NULL && kind == REGISTERED)
        TRY(cuMemHostRegister(p, size_bytes, 0));
    return p;
}

static void give(enum kind kind, unsigned char *p, size_t size_bytes)
{
    if (kind == REGISTERED)
        TRY(cuMemHostUnregister(p));
    if (kind == PINNED)
        TRY(cuMemFreeHost(p));
    else if (p != NULL)
        munmap(p, size_bytes);
}

/* The one value that all bytes have, or -1. */
static int value_of(const unsigned char *bytes, size_t size_bytes)
{
    for (size_t i = 1; i < size_bytes; i++)
        if (bytes[i] != bytes[0])
            return -1;
    return bytes[0];
}

static int device_value(CUdeviceptr at, size_t size_bytes)
{
    unsigned char *seen = malloc(size_bytes);
    int value = -1;

    if (seen != NULL && TRY(cuMemcpyDtoH(seen, at, size_bytes)) == CUDA_SUCCESS)
        value = value_of(seen, size_bytes);
    free(seen);
    return value;
}

/* ---- captures ---- */

static CUresult begin_capture(CUstream stream, CUstreamCaptureMode mode)
{
    CUresult rc = TRY(cuStreamBeginCapture(stream, mode));

    if (rc == CUDA_SUCCESS)
        TRY(cuMemsetD8Async(dev_b, 0, 16, stream));
    return rc;
}

/* Ends the capture and throws its graph away; *nodes says how many nodes that had. */
static CUresult drop_capture(CUstream stream, size_t *nodes)
{
    CUgraph graph = NULL;
    CUresult rc = cuStreamEndCapture(stream, &graph);

    *nodes = 0;
    if (graph != NULL) {
        cuGraphGetNodes(graph, NULL, nodes);
        cuGraphDestroy(graph);
    }
    return rc;
}

static CUstreamCaptureMode exchange(CUstreamCaptureMode mode)
{
    cuThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

static CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec = NULL;

    TRY(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

/* Ends the capture of `stream`; NULL, and a word in the line, when it fails. */
static CUgraph end_capture(CUstream stream)
{
    CUgraph graph = NULL;

    TRY(cuStreamEndCapture(stream, &graph));
    return graph;
}

static CUgraphNode only_node(CUgraph graph)
{
    CUgraphNode node = NULL;
    size_t count = 1;

    TRY(cuGraphGetNodes(graph, &node, &count));
    return node;
}

static CUDA_MEMCPY3D flat_copy(bool to_device, unsigned char *host, CUdeviceptr dev, size_t bytes)
{
    CUDA_MEMCPY3D c = {.WidthInBytes = bytes, .Height = 1, .Depth = 1};

    c.srcMemoryType = to_device ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    c.dstMemoryType = to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    if (to_device) {
        c.srcHost = host;
        c.dstDevice = dev;
    } else {
        c.srcDevice = dev;
        c.dstHost = host;
    }
    return c;
}

static CUgraph captured_copy(bool to_device, unsigned char *host, CUdeviceptr dev, size_t bytes)
{
    TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (to_device)
        TRY(cuMemcpyHtoDAsync(dev, host, bytes, nonblocking2));
    else
        TRY(cuMemcpyDtoHAsync(host, dev, bytes, nonblocking2));
    return end_capture(nonblocking2);
}

static CUgraph added_copy(bool to_device, unsigned char *host, CUdeviceptr dev, size_t bytes)
{
    CUDA_MEMCPY3D c = flat_copy(to_device, host, dev, bytes);
    CUgraph graph = NULL;
    CUgraphNode node;

    TRY(cuGraphCreate(&graph, 0));
    TRY(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &c, primary));
    return graph;
}

/* ---- other threads ---- */

struct thread_call {
    CUresult (*call)(void *arg);
    void *arg;
    CUresult result;
};

static void *run_thread_call(void *p)
{
    struct thread_call *tc = p;

    cuCtxSetCurrent(primary);
    tc->result = tc->call(tc->arg);
    return NULL;
}

static CUresult on_other_thread(CUresult (*call)(void *), void *arg)
{
    struct thread_call tc = {call, arg, CUDA_ERROR_UNKNOWN};
    pthread_t thread;

    if (pthread_create(&thread, NULL, run_thread_call, &tc) == 0)
        pthread_join(thread, NULL);
    return tc.result;
}

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

static void CUDA_CB nothing(void *unused)
{
    (void)unused;
}

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

static CUresult make_pool(void)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};

    return cuMemPoolCreate(&s.pool, &props);
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

static CUresult prefetch(CUstream stream)
{
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE};

    return cuMemPrefetchAsync(managed, 4 * KB, here, 0, stream);
}

static CUresult ask_memory_type(void)
{
    unsigned type;

    return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, dev_a);
}

static CUresult push_and_pop(void)
{
    CUcontext popped;
    CUresult rc = cuCtxPushCurrent(primary);

    return rc ? rc : cuCtxPopCurrent(&popped);
}

static CUresult get_context(CUstream stream)
{
    CUcontext context;

    return cuStreamGetCtx(stream, &context);
}

static CUresult get_flags(CUstream stream)
{
    unsigned flags;

    return cuStreamGetFlags(stream, &flags);
}

static CUresult get_priority(CUstream stream)
{
    int priority;

    return cuStreamGetPriority(stream, &priority);
}

static CUresult get_id(CUstream stream)
{
    unsigned long long id;

    return cuStreamGetId(stream, &id);
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

static CUresult memory_info(void)
{
    size_t available, total;

    return cuMemGetInfo(&available, &total);
}

static CUresult per_thread_copy(void)
{
    static CUresult (*call)(CUdeviceptr, const void *, size_t);

    if (call == NULL)
        call = (__typeof__(call))dlsym(RTLD_DEFAULT, "cuMemcpyHtoD_v2_ptds");
    return call != NULL ? call(dev_a, plain, 4 * KB) : CUDA_ERROR_NOT_FOUND;
}

static CUresult per_thread_async_copy(void)
{
    static CUresult (*call)(CUdeviceptr, const void *, size_t, CUstream);

    if (call == NULL)
        call = (__typeof__(call))dlsym(RTLD_DEFAULT, "cuMemcpyHtoDAsync_v2_ptsz");
    return call != NULL ? call(dev_a, page_locked, 4 * KB, NULL) : CUDA_ERROR_NOT_FOUND;
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

#define NONE (void)0
#define ARRAY (&(CUDA_ARRAY_DESCRIPTOR){64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1})

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
    X(prefetch_n, "cuMemPrefetchAsync, other N", NONE, prefetch(nonblocking2))                     \
    X(prefetch_c, "cuMemPrefetchAsync, capturing", NONE, prefetch(capturing))                      \
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
    X(mod_load, "cuModuleLoadData", NONE, cuModuleLoadData(&s.module, spin_ptx))                   \
    X(mod_func, "cuModuleGetFunction", TRY(cuModuleLoadData(&s.module, spin_ptx)),                 \
      cuModuleGetFunction(&s.function, s.module, "spin"))                                          \
    X(mod_end, "cuModuleUnload", TRY(cuModuleLoadData(&s.module, spin_ptx)),                       \
      GONE(s.module, cuModuleUnload(s.module)))                                                    \
    X(func_set, "cuFuncSetAttribute", NONE,                                                        \
      cuFuncSetAttribute(attribute_kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, KB))   \
    X(pool, "cuMemPoolCreate", NONE, make_pool())                                                  \
    X(pool_trim, "cuMemPoolTrimTo", TRY(make_pool()), cuMemPoolTrimTo(s.pool, 0))                  \
    X(ctx_get, "cuCtxGetCurrent", NONE, current())                                                 \
    X(ctx_push, "cuCtxPushCurrent and Pop", NONE, push_and_pop())                                  \
    X(retain, "cuDevicePrimaryCtxRetain", NONE, retain_primary())                                  \
    X(release, "cuDevicePrimaryCtxRelease", TRY(retain_primary()), release_primary())              \
    X(ctx_create, "cuCtxCreate", NONE, cuCtxCreate(&s.context, NULL, 0, device))

#define DEFINE_CALL(id, name, needs, call)                                                         \
    static void need_##id(void)                                                                    \
    {                                                                                              \
        needs;                                                                                     \
    }                                                                                              \
    static CUresult call_##id(void)                                                                \
    {                                                                                              \
        return call;                                                                               \
    }
CALLS(DEFINE_CALL)

#define LIST_CALL(id, name, needs, call) {name, need_##id, call_##id},
static const struct call {
    const char *name;
    void (*need)(void);
    CUresult (*call)(void);
} calls[] = {CALLS(LIST_CALL)};

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
    CUmodule module = NULL;

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
    TRY(cuModuleLoadData(&module, spin_ptx));
    TRY(cuModuleGetFunction(&attribute_kernel, module, "spin"));
    settle();
}

/* Errors are of no interest here: what the call did with the thing is not always known. */
static void let_go(void)
{
    cuCtxSynchronize();
    if (s.memory)
        cuMemFree(s.memory);
    if (s.host != NULL)
        cuMemFreeHost(s.host);
    if (s.registered != NULL)
        cuMemHostUnregister(s.registered);
    if (s.array != NULL)
        cuArrayDestroy(s.array);
    if (s.event != NULL)
        cuEventDestroy(s.event);
    if (s.stream != NULL)
        cuStreamDestroy(s.stream);
    if (s.exec != NULL)
        cuGraphExecDestroy(s.exec);
    if (s.graph != NULL)
        cuGraphDestroy(s.graph);
    if (s.module != NULL)
        cuModuleUnload(s.module);
    if (s.pool != NULL)
        cuMemPoolDestroy(s.pool);
    if (s.object != NULL)
        cuUserObjectRelease(s.object, 1);
    if (s.retained)
        cuDevicePrimaryCtxRelease(device);
    if (s.context != NULL)
        cuCtxDestroy(s.context);
    cuCtxSetCurrent(primary);
    memset(&s, 0, sizeof(s));
}

static CUresult make_call(void *call)
{
    return ((const struct call *)call)->call();
}

static void visit(const struct call *call, const struct situation *at)
{
    struct call copy = *call;
    CUresult rc;
    size_t nodes;

    call->need();
    settle();
    TRY(cuStreamCreate(&capturing, at->flags));
    if (begin_capture(capturing, at->mode) == CUDA_SUCCESS) {
        CUstreamCaptureMode before = CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (at->exchanged)
            before = exchange(CU_STREAM_CAPTURE_MODE_RELAXED);
        rc = at->other_thread ? on_other_thread(make_call, &copy) : call->call();
        if (at->exchanged)
            exchange(before);
        if (s.context != NULL)
            cuCtxSetCurrent(primary);
        CUresult end = drop_capture(capturing, &nodes);
        char text[32];
        int used = snprintf(text, sizeof(text), "%d/%d", (int)rc, (int)end);
        if (end == CUDA_SUCCESS && nodes != 1)
            snprintf(text + used, sizeof(text) - (size_t)used, "%+d", (int)nodes - 1);
        say(" %-10s", text);
    }
    cuStreamDestroy(capturing);
    let_go();
}

/* Part p is the row of call p - 1; part 0 is the head of the table. */
static void q1(unsigned first)
{
    prepare_q1();
    if (first == 0) {
        say("Q1 capturing stream B or N; G Global, T ThreadLocal, R Relaxed; the call by the same "
            "thread or by another, exch: its mode exchanged to Relaxed\nQ1 %-38s",
            "");
        for (size_t i = 0; i < COUNT(situations); i++)
            say(" %-10s", situations[i].name);
        end_line();
    }
    for (unsigned row = first ? first - 1 : 0; row < COUNT(calls); row++) {
        progress->part = row + 1;
        say("Q1 %-38s", calls[row].name);
        for (size_t i = 0; i < COUNT(situations); i++)
            visit(&calls[row], &situations[i]);
        end_line();
    }
}

/* ---- Q2, Q3: work beside a capture, and after it ---- */

static atomic_bool legacy_done;

static void CUDA_CB legacy_sleeper(void *ms)
{
    sleep_ms((unsigned)(uintptr_t)ms);
    atomic_store(&legacy_done, true);
}

struct beside {
    CUstream other;
    unsigned char *pinned;
};

/* What the library does for a copy of the legacy stream: on a private stream, behind `other`. */
static CUresult work_beside(void *arg)
{
    struct beside *b = arg;
    CUstreamCaptureMode before = exchange(CU_STREAM_CAPTURE_MODE_RELAXED);

    CUresult rc = cuEventRecord(event, b->other);
    say(" record on other B %d (%s),", (int)rc,
        cuEventQuery(event) == CUDA_SUCCESS ? "ready" : "not ready");
    say(" private waits %d,", (int)cuStreamWaitEvent(nonblocking2, event, 0));
    say(" copies %d,", (int)cuMemcpyDtoHAsync(b->pinned, dev_a, 4 * KB, nonblocking2));
    uint64_t start = now_ns();
    rc = cuStreamSynchronize(nonblocking2);
    say(" synchronise %d after %.0f ms, legacy work done by then: %s,", (int)rc, ms_since(start),
        yes_no(atomic_load(&legacy_done)));
    say(" record private %d,", (int)cuEventRecord(event2, nonblocking2));
    say(" other B waits for it %d,", (int)cuStreamWaitEvent(b->other, event2, 0));
    say(" other B copies %d,", (int)cuMemcpyDtoHAsync(b->pinned, dev_a, 4 * KB, b->other));
    exchange(before);
    return CUDA_SUCCESS;
}

static void beside_capture(const char *label, CUstreamCaptureMode mode, bool other_thread,
                           bool fresh)
{
    struct beside b = {blocking2, take(PINNED, 4 * KB)};
    size_t nodes;

    say("Q2 %s:", label);
    TRY(cuMemsetD8(dev_a, 0x5a, 4 * KB));
    settle();
    atomic_store(&legacy_done, false);
    TRY(cuLaunchHostFunc(LEGACY, legacy_sleeper, (void *)(uintptr_t)50));
    begin_capture(blocking, mode);
    if (fresh)
        TRY(cuStreamCreate(&b.other, CU_STREAM_DEFAULT));
    if (other_thread)
        on_other_thread(work_beside, &b);
    else
        work_beside(&b);
    say(" end %d,", (int)drop_capture(blocking, &nodes));
    settle();
    say(" data %s", value_of(b.pinned, 4 * KB) == 0x5a ? "right" : "WRONG");
    end_line();
    if (fresh)
        TRY(cuStreamDestroy(b.other));
    give(PINNED, b.pinned, 4 * KB);
}

static void q2(unsigned unused)
{
    (void)unused;
    beside_capture("B captures, Global", CU_STREAM_CAPTURE_MODE_GLOBAL, false, false);
    beside_capture("B captures, Global, by another thread", CU_STREAM_CAPTURE_MODE_GLOBAL, true,
                   false);
    beside_capture("B captures, ThreadLocal", CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, false, false);
    beside_capture("B captures, Relaxed", CU_STREAM_CAPTURE_MODE_RELAXED, false, false);
    beside_capture("B captures, Global, other B created during the capture",
                   CU_STREAM_CAPTURE_MODE_GLOBAL, false, true);
}

static void after_capture(const char *label, bool spoil)
{
    unsigned char *pinned = take(PINNED, 4 * KB);
    CUevent captured = NULL;
    size_t nodes;

    TRY(cuEventCreate(&captured, CU_EVENT_DISABLE_TIMING));
    say("Q3 %s:", label);
    begin_capture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    TRY(cuEventRecord(captured, blocking));
    TRY(cuEventRecord(event, blocking2));
    TRY(cuEventRecord(event2, nonblocking2));
    if (spoil)
        say(" cuMemsetD8 %d,", (int)cuMemsetD8(dev_a, 0, 16));
    say(" end %d; L waits for the event", (int)drop_capture(blocking, &nodes));
    say(" of other B %d,", (int)cuStreamWaitEvent(LEGACY, event, 0));
    say(" of private N %d,", (int)cuStreamWaitEvent(LEGACY, event2, 0));
    say(" of the capture %d;", (int)cuStreamWaitEvent(LEGACY, captured, 0));
    say(" on L memset %d,", (int)cuMemsetD8Async(dev_a, 1, 16, LEGACY));
    say(" copy %d,", (int)cuMemcpyDtoHAsync(pinned, dev_a, 16, LEGACY));
    say(" record %d,", (int)cuEventRecord(event, LEGACY));
    say(" synchronise %d;", (int)cuStreamSynchronize(LEGACY));
    say(" cuCtxSynchronize %d;", (int)cuCtxSynchronize());
    say(" memset on the stream %d", (int)cuMemsetD8Async(dev_a, 1, 16, blocking));
    end_line();
    settle();
    TRY(cuEventDestroy(captured));
    give(PINNED, pinned, 4 * KB);
}

static void q3(unsigned unused)
{
    (void)unused;
    after_capture("after a good capture", false);
    after_capture("after a broken one", true);
}

/* ---- Q4: when a graph reads and writes host memory ---- */

enum { AT_CAPTURE = 1, AT_LAUNCH = 2, AFTER_LAUNCH = 3 };

static const char *moment(int value)
{
    switch (value) {
    case AT_CAPTURE:
        return "that at capture";
    case AT_LAUNCH:
        return "that at launch";
    case AFTER_LAUNCH:
        return "that AFTER launch";
    default:
        return "MIXED";
    }
}

static const char *size_text(size_t bytes)
{
    static char text[16];

    if (bytes < MB)
        snprintf(text, sizeof(text), "%zuK", bytes / KB);
    else
        snprintf(text, sizeof(text), "%zuM", bytes / MB);
    return text;
}

static void node_to_device(enum kind kind, bool captured, size_t bytes)
{
    unsigned char *source = take(kind, bytes);

    say("Q4 H2D %s %s %s node:", kind_names[kind], size_text(bytes),
        captured ? "captured" : "added");
    if (source == NULL)
        return;
    memset(source, AT_CAPTURE, bytes);
    CUgraph graph = captured ? captured_copy(true, source, dev_a, bytes)
                             : added_copy(true, source, dev_a, bytes);
    CUgraphExec exec = instantiate(graph);
    TRY(cuGraphLaunch(exec, nonblocking));
    settle();
    memset(source, AT_LAUNCH, bytes);
    occupy(nonblocking, BUSY_MS);
    say(" launch ");
    say_took(MS(cuGraphLaunch(exec, nonblocking)));
    memset(source, AFTER_LAUNCH, bytes);
    settle();
    say(", the value that arrives: %s", moment(device_value(dev_a, bytes)));
    end_line();
    TRY(cuGraphExecDestroy(exec));
    TRY(cuGraphDestroy(graph));
    give(kind, source, bytes);
}

static void node_to_host(enum kind kind, bool captured, size_t bytes)
{
    unsigned char *target = take(kind, bytes);

    say("Q4 D2H %s %s %s node:", kind_names[kind], size_text(bytes),
        captured ? "captured" : "added");
    if (target == NULL)
        return;
    TRY(cuMemsetD8(dev_a, 0x5a, bytes));
    CUgraph graph = captured ? captured_copy(false, target, dev_a, bytes)
                             : added_copy(false, target, dev_a, bytes);
    CUgraphExec exec = instantiate(graph);
    TRY(cuGraphLaunch(exec, nonblocking));
    settle();
    memset(target, 0, bytes);
    occupy(nonblocking, BUSY_MS);
    say(" launch ");
    say_took(MS(cuGraphLaunch(exec, nonblocking)));
    bool at_return = target[0] == 0x5a && target[bytes - 1] == 0x5a;
    TRY(cuStreamSynchronize(nonblocking));
    say(", at return %s, after a synchronise %s", at_return ? "complete" : "STALE",
        value_of(target, bytes) == 0x5a ? "complete" : "STALE");
    end_line();
    TRY(cuGraphExecDestroy(exec));
    TRY(cuGraphDestroy(graph));
    give(kind, target, bytes);
}

static void node_between_hosts(enum kind from, enum kind to, size_t bytes)
{
    unsigned char *source = take(from, bytes), *target = take(to, bytes);

    say("Q4 cuMemcpyAsync %s to %s %s captured node:", kind_names[from], kind_names[to],
        size_text(bytes));
    memset(source, AT_CAPTURE, bytes);
    TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TRY(cuMemcpyAsync(uva(target), uva(source), bytes, nonblocking2));
    CUgraph graph = end_capture(nonblocking2);
    CUgraphExec exec = instantiate(graph);
    memset(source, AT_LAUNCH, bytes);
    memset(target, 0, bytes);
    occupy(nonblocking, BUSY_MS);
    say(" launch ");
    say_took(MS(cuGraphLaunch(exec, nonblocking)));
    bool at_return = target[bytes - 1] != 0;
    memset(source, AFTER_LAUNCH, bytes);
    settle();
    say(", at return %s, the value that arrives: %s", at_return ? "complete" : "STALE",
        moment(value_of(target, bytes)));
    end_line();
    TRY(cuGraphExecDestroy(exec));
    TRY(cuGraphDestroy(graph));
    give(from, source, bytes);
    give(to, target, bytes);
}

static void memset_node(enum kind kind, size_t bytes)
{
    unsigned char *target = take(kind, bytes);
    CUgraph graph = NULL;

    say("Q4 memset %s %s captured node:", kind_names[kind], size_text(bytes));
    TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CUresult rc = cuMemsetD8Async(uva(target), 0x5a, bytes, nonblocking2);
    CUresult end = cuStreamEndCapture(nonblocking2, &graph);
    say(" capture %d/%d", (int)rc, (int)end);
    if (rc == CUDA_SUCCESS && end == CUDA_SUCCESS) {
        CUgraphExec exec = instantiate(graph);
        TRY(cuGraphLaunch(exec, nonblocking));
        settle();
        memset(target, 0, bytes);
        occupy(nonblocking, BUSY_MS);
        say(", launch ");
        say_took(MS(cuGraphLaunch(exec, nonblocking)));
        bool at_return = target[bytes - 1] == 0x5a;
        settle();
        say(", at return %s, after a synchronise %s", at_return ? "complete" : "STALE",
            value_of(target, bytes) == 0x5a ? "complete" : "STALE");
        TRY(cuGraphExecDestroy(exec));
    }
    end_line();
    if (graph != NULL)
        TRY(cuGraphDestroy(graph));
    give(kind, target, bytes);
}

/* Whether the staging of a pageable source belongs to the launch or to the exec. */
static void staged_twice(size_t bytes)
{
    unsigned char *source = take(PAGEABLE, bytes);

    say("Q4 H2D pageable %s, two launches pending:", size_text(bytes));
    memset(source, 1, bytes);
    CUgraph graph = captured_copy(true, source, dev_a, bytes);
    CUgraphExec exec = instantiate(graph);
    TRY(cuGraphLaunch(exec, nonblocking));
    settle();
    occupy(nonblocking, BUSY_MS);
    say(" first launch ");
    say_took(MS(cuGraphLaunch(exec, nonblocking)));
    TRY(cuMemcpyDtoDAsync(dev_b, dev_a, bytes, nonblocking));
    memset(source, 2, bytes);
    say(", second ");
    say_took(MS(cuGraphLaunch(exec, nonblocking)));
    memset(source, 3, bytes);
    settle();
    say("; the first brings %d (1 at its launch), the second %d (2 at its launch, 3 after)",
        device_value(dev_b, bytes), device_value(dev_a, bytes));
    end_line();
    TRY(cuGraphExecDestroy(exec));
    TRY(cuGraphDestroy(graph));
    give(PAGEABLE, source, bytes);
}

/* Part p is the size of index p: a child that died of one goes on with the next. */
static void q4(unsigned first)
{
    static const size_t sizes[] = {4 * KB, 64 * KB, MB, 64 * MB};

    for (unsigned i = first; i < COUNT(sizes); i++) {
        progress->part = i + 1;
        for (enum kind kind = PAGEABLE; kind < KINDS; kind++)
            for (int captured = 1; captured >= (kind == REGISTERED || sizes[i] > MB); captured--) {
                node_to_device(kind, captured, sizes[i]);
                node_to_host(kind, captured, sizes[i]);
            }
    }
    if (progress->part < COUNT(sizes) + 1) {
        progress->part = COUNT(sizes) + 1;
        node_between_hosts(PINNED, PINNED, 64 * KB);
        node_between_hosts(PAGEABLE, PAGEABLE, 64 * KB);
        node_between_hosts(PAGEABLE, PINNED, 64 * KB);
        memset_node(PINNED, 64 * KB);
        memset_node(REGISTERED, 64 * KB);
        staged_twice(64 * KB);
        staged_twice(4 * MB);
    }
    if (progress->part < COUNT(sizes) + 2) {
        progress->part = COUNT(sizes) + 2;
        memset_node(PAGEABLE, 64 * KB);
    }
}

/* ---- Q5: launches and the ends of graphs ---- */

static CUgraph spinning_graph(unsigned ms)
{
    TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));
    occupy(nonblocking2, ms);
    return end_capture(nonblocking2);
}

static void launch_twice(const char *label, CUstream second_stream)
{
    CUgraph graph = spinning_graph(60);
    CUgraphExec exec = instantiate(graph);

    TRY(cuGraphLaunch(exec, nonblocking));
    settle();
    uint64_t start = now_ns();
    say("Q5 %s: launches ", label);
    say_took(MS(cuGraphLaunch(exec, nonblocking)));
    say(" and ");
    say_took(MS(cuGraphLaunch(exec, second_stream)));
    settle();
    double took = ms_since(start);
    say(", both done after %.0f ms of 60 + 60: %s", took, took > 110 ? "ordered" : "CONCURRENT");
    end_line();
    TRY(cuGraphExecDestroy(exec));
    TRY(cuGraphDestroy(graph));
}

static atomic_uint host_runs;

static void CUDA_CB count_run(void *unused)
{
    (void)unused;
    atomic_fetch_add(&host_runs, 1);
}

/* 50 ms, a copy to pinned memory, a host function; the exec goes while that is pending. */
static void destroy_in_flight(bool graph_first)
{
    unsigned char *pinned = take(PINNED, MB);
    CUgraph graph;

    say("Q5 %s:", graph_first ? "cuGraphDestroy before the launch" : "cuGraphDestroy after all");
    TRY(cuMemsetD8(dev_a, 0x5a, MB));
    TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));
    occupy(nonblocking2, 50);
    TRY(cuMemcpyDtoHAsync(pinned, dev_a, MB, nonblocking2));
    TRY(cuLaunchHostFunc(nonblocking2, count_run, NULL));
    graph = end_capture(nonblocking2);
    CUgraphExec exec = instantiate(graph);
    if (graph_first)
        TRY(cuGraphDestroy(graph));
    atomic_store(&host_runs, 0);
    say(" launch %d,", (int)cuGraphLaunch(exec, nonblocking));
    say(" cuGraphExecDestroy in flight ");
    say_took(MS(cuGraphExecDestroy(exec)));
    bool pending = atomic_load(&host_runs) == 0;
    say(" (launch %s), synchronise %d,", pending ? "still pending" : "done",
        (int)cuStreamSynchronize(nonblocking));
    say(" copy %s, host function ran %u times",
        value_of(pinned, MB) == 0x5a ? "landed" : "NOT landed", atomic_load(&host_runs));
    end_line();
    if (!graph_first)
        TRY(cuGraphDestroy(graph));
    give(PINNED, pinned, MB);
}

static void q5(unsigned unused)
{
    (void)unused;
    launch_twice("a second launch on the same stream", nonblocking);
    launch_twice("a second launch on another stream", nonblocking2);
    destroy_in_flight(true);
    destroy_in_flight(false);
}

/* ---- Q6: what nodes say of themselves ---- */

static const char *memory_type(CUmemorytype type)
{
    static const char *const names[] = {"?", "HOST", "DEVICE", "ARRAY", "UNIFIED"};

    return (unsigned)type < COUNT(names) ? names[type] : "?";
}

static void say_side(const char *side, CUmemorytype type, const void *host, CUdeviceptr dev,
                     const unsigned char *buffer, size_t pitch)
{
    say(" %s %s", side, memory_type(type));
    if (host != NULL)
        say(" Host=%s", host == buffer ? "buffer" : "other");
    if (dev != 0)
        say(" Device=%s", dev == uva(buffer) ? "buffer" : dev == dev_a ? "device" : "other");
    say(" pitch %zu,", pitch);
}

static void show_node(const char *label, CUstream stream, const unsigned char *buffer)
{
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    CUDA_MEMCPY3D c = {0};
    CUDA_MEMSET_NODE_PARAMS m = {0};
    CUgraph graph = end_capture(stream);
    CUgraphNode node = only_node(graph);

    say("Q6 %s:", label);
    TRY(cuGraphNodeGetType(node, &type));
    say(" type %d,", (int)type);
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY && TRY(cuGraphMemcpyNodeGetParams(node, &c)) == 0) {
        say_side("src", c.srcMemoryType, c.srcHost, c.srcDevice, buffer, c.srcPitch);
        say_side("dst", c.dstMemoryType, c.dstHost, c.dstDevice, buffer, c.dstPitch);
        say(" %zu x %zu x %zu", c.WidthInBytes, c.Height, c.Depth);
    } else if (type == CU_GRAPH_NODE_TYPE_MEMSET && TRY(cuGraphMemsetNodeGetParams(node, &m)) == 0)
        say(" dst=%s value %u, element %u, %zu x %zu pitch %zu",
            m.dst == uva(buffer) ? "buffer" : "other", m.value, m.elementSize, m.width, m.height,
            m.pitch);
    end_line();
    TRY(cuGraphDestroy(graph));
}

static void captured_params(enum kind kind)
{
    unsigned char *p = take(kind, 64 * KB);
    char label[64];
    CUDA_MEMCPY2D pitched = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                             .srcHost = p,
                             .srcPitch = 64,
                             .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                             .dstDevice = dev_a,
                             .dstPitch = 128,
                             .WidthInBytes = 16,
                             .Height = 8};

#define SHOW(name, call)                                                                           \
    do {                                                                                           \
        snprintf(label, sizeof(label), "%s %s", name, kind_names[kind]);                           \
        TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));                    \
        TRY(call);                                                                                 \
        show_node(label, nonblocking2, p);                                                         \
    } while (0)
    SHOW("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync(dev_a, p, 64 * KB, nonblocking2));
    SHOW("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync(p, dev_a, 64 * KB, nonblocking2));
    SHOW("cuMemcpyAsync H2D", cuMemcpyAsync(dev_a, uva(p), 64 * KB, nonblocking2));
    SHOW("cuMemcpyAsync D2H", cuMemcpyAsync(uva(p), dev_a, 64 * KB, nonblocking2));
    SHOW("cuMemcpyAsync H2H", cuMemcpyAsync(uva(p) + 32 * KB, uva(p), 32 * KB, nonblocking2));
    SHOW("cuMemcpy2DAsync H2D", cuMemcpy2DAsync(&pitched, nonblocking2));
    if (kind != PAGEABLE)
        SHOW("cuMemsetD8Async", cuMemsetD8Async(uva(p), 7, 64 * KB, nonblocking2));
#undef SHOW
    give(kind, p, 64 * KB);
}

/* The node's own parameters with another source, as they say it. */
static CUDA_MEMCPY3D with_source(CUgraphNode node, const unsigned char *source)
{
    CUDA_MEMCPY3D c = {0};

    TRY(cuGraphMemcpyNodeGetParams(node, &c));
    if (c.srcMemoryType == CU_MEMORYTYPE_HOST)
        c.srcHost = source;
    else
        c.srcDevice = uva(source);
    return c;
}

static void replace_source(bool captured, enum kind from, enum kind to, size_t bytes)
{
    unsigned char *old = take(from, 64 * KB), *new = take(to, 64 * KB);

    say("Q6 cuGraphExecMemcpyNodeSetParams %s node, %s 64K by %s %s:",
        captured ? "captured" : "added", kind_names[from], kind_names[to], size_text(bytes));
    memset(old, 1, 64 * KB);
    memset(new, 2, 64 * KB);
    CUgraph graph =
        captured ? captured_copy(true, old, dev_a, 64 * KB) : added_copy(true, old, dev_a, 64 * KB);
    CUgraphNode node = only_node(graph);
    CUgraphExec exec = instantiate(graph);
    CUDA_MEMCPY3D c = with_source(node, new);
    c.WidthInBytes = bytes;
    CUDA_MEMCPY3D as_host = flat_copy(true, new, dev_a, bytes);
    say(" as the node has it %d", (int)cuGraphExecMemcpyNodeSetParams(exec, node, &c, primary));
    TRY(cuGraphLaunch(exec, nonblocking));
    settle();
    say(" (brings %s),", device_value(dev_a, 4 * KB) == 2 ? "the new" : "the OLD");
    say(" as HOST to DEVICE %d",
        (int)cuGraphExecMemcpyNodeSetParams(exec, node, &as_host, primary));
    TRY(cuMemsetD8(dev_a, 0, 64 * KB));
    occupy(nonblocking, 30);
    say(", launch ");
    say_took(MS(cuGraphLaunch(exec, nonblocking)));
    settle();
    say(" (brings %s)", device_value(dev_a, 4 * KB) == 2 ? "the new" : "the OLD");
    end_line();
    TRY(cuGraphExecDestroy(exec));
    TRY(cuGraphDestroy(graph));
    give(from, old, 64 * KB);
    give(to, new, 64 * KB);
}

static void replace_while_pending(void)
{
    unsigned char *old = take(PINNED, 64 * KB), *new = take(PINNED, 64 * KB);
    CUgraph graph = captured_copy(true, old, dev_a, 64 * KB);
    CUgraphNode node = only_node(graph);
    CUgraphExec exec = instantiate(graph);

    say("Q6 cuGraphExecMemcpyNodeSetParams while a launch is pending:");
    memset(old, 1, 64 * KB);
    memset(new, 2, 64 * KB);
    occupy(nonblocking, BUSY_MS);
    TRY(cuGraphLaunch(exec, nonblocking));
    CUDA_MEMCPY3D c = with_source(node, new);
    say(" takes ");
    say_took(MS(cuGraphExecMemcpyNodeSetParams(exec, node, &c, primary)));
    settle();
    say(", the launch before brings %s,",
        device_value(dev_a, 64 * KB) == 1 ? "the old" : "the NEW");
    TRY(cuGraphLaunch(exec, nonblocking));
    settle();
    say(" that after it %s", device_value(dev_a, 64 * KB) == 2 ? "the new" : "the OLD");
    end_line();
    TRY(cuGraphExecDestroy(exec));
    TRY(cuGraphDestroy(graph));
    give(PINNED, old, 64 * KB);
    give(PINNED, new, 64 * KB);
}

static void q6(unsigned first)
{
    static const struct {
        enum kind from, to;
    } pairs[] = {{PINNED, PINNED},
                 {PINNED, PAGEABLE},
                 {PAGEABLE, PAGEABLE},
                 {PAGEABLE, PINNED},
                 {PINNED, REGISTERED}};

    for (enum kind kind = PAGEABLE; first == 0 && kind < KINDS; kind++)
        captured_params(kind);
    for (unsigned i = first ? first - 1 : 0; i < COUNT(pairs); i++) {
        progress->part = i + 2;
        replace_source(true, pairs[i].from, pairs[i].to, 64 * KB);
        replace_source(false, pairs[i].from, pairs[i].to, 64 * KB);
    }
    if (progress->part < COUNT(pairs) + 2) {
        progress->part = COUNT(pairs) + 2;
        replace_source(true, PINNED, PINNED, 32 * KB);
        replace_while_pending();
    }
}

/* ---- Q7: host memory that is gone when its graph is launched ---- */

enum ending { FREED, UNREGISTERED, UNREGISTERED_UNMAPPED, UNMAPPED, REGISTERED_UNMAPPED, ENDINGS };
static const char *const ending_names[ENDINGS] = {
    "cuMemFreeHost", "cuMemHostUnregister", "cuMemHostUnregister and munmap",
    "munmap of pageable memory", "munmap of registered memory"};

static void launch_without(enum ending ending, bool to_device, size_t bytes)
{
    enum kind kind = ending == FREED ? PINNED : ending == UNMAPPED ? PAGEABLE : REGISTERED;
    unsigned char *host = take(kind, bytes);

    say("Q7 %s, %s %s:", ending_names[ending], to_device ? "H2D" : "D2H", size_text(bytes));
    memset(host, 1, bytes);
    CUgraph graph = captured_copy(to_device, host, dev_a, bytes);
    CUgraphExec exec = instantiate(graph);
    if (ending == FREED)
        TRY(cuMemFreeHost(host));
    if (ending == UNREGISTERED || ending == UNREGISTERED_UNMAPPED)
        TRY(cuMemHostUnregister(host));
    if (ending >= UNREGISTERED_UNMAPPED)
        munmap(host, bytes);
    say(" launch %d,", (int)cuGraphLaunch(exec, nonblocking));
    say(" synchronise %d,", (int)cuStreamSynchronize(nonblocking));
    say(" the context afterwards %d", (int)cuCtxSynchronize());
    end_line();
}

/* One child for each: the context may be gone behind it. */
static void q7(unsigned first)
{
    for (unsigned i = first; i < 2 * ENDINGS; i++) {
        progress->part = i + 1;
        launch_without((enum ending)(i / 2), i % 2 == 0, 4 * MB);
        if (i / 2 == REGISTERED_UNMAPPED || cuCtxSynchronize() != CUDA_SUCCESS)
            _exit(2);
    }
}

/* ---- Q8: host functions and user objects of graphs ---- */

static atomic_int destroyed_by; /* the thread that called the destructor; 0 while nobody has */
static atomic_int destructor_rc;
static _Atomic uint64_t destroyed_ns;

static void CUDA_CB destructor(void *unused)
{
    CUcontext context;

    (void)unused;
    atomic_store(&destructor_rc, (int)cuCtxGetCurrent(&context));
    atomic_store(&destroyed_ns, now_ns());
    atomic_store(&destroyed_by, (int)syscall(SYS_gettid));
}

static CUgraph graph_with_object(unsigned spin_ms)
{
    CUuserObject object = NULL;
    CUgraph graph = spinning_graph(spin_ms);

    atomic_store(&destroyed_by, 0);
    TRY(cuUserObjectCreate(&object, &destroyed_by, destructor, 1,
                           CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    TRY(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    return graph;
}

/* Says when the destructor came, counted from `start_ns`, and from where. */
static void say_destroyed(uint64_t start_ns)
{
    bool at_return = atomic_load(&destroyed_by) != 0;

    while (atomic_load(&destroyed_by) == 0 && ms_since(start_ns) < 400)
        sleep_ms(1);
    int by = atomic_load(&destroyed_by);
    if (by == 0)
        say(" destructor not called within 400 ms;");
    else
        say(" destructor %s, %.2f ms behind the call, by %s (cuCtxGetCurrent there %d);",
            at_return ? "before the call returned" : "LATER",
            ((double)atomic_load(&destroyed_ns) - (double)start_ns) / 1e6,
            by == (int)syscall(SYS_gettid) ? "the caller" : "another thread",
            atomic_load(&destructor_rc));
}

static void host_function_runs(void)
{
    CUgraph graph;

    say("Q8 a captured host function, 3 launches:");
    atomic_store(&host_runs, 0);
    TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TRY(cuLaunchHostFunc(nonblocking2, count_run, NULL));
    graph = end_capture(nonblocking2);
    CUgraphExec exec = instantiate(graph);
    for (int i = 0; i < 3; i++)
        TRY(cuGraphLaunch(exec, nonblocking));
    settle();
    say(" ran %u times", atomic_load(&host_runs));
    end_line();
    TRY(cuGraphExecDestroy(exec));
    TRY(cuGraphDestroy(graph));
}

static void object_of_graph(void)
{
    say("Q8 user object, graph never instantiated: cuGraphDestroy:");
    CUgraph graph = graph_with_object(1);
    uint64_t start = now_ns();
    TRY(cuGraphDestroy(graph));
    say_destroyed(start);
    end_line();
}

static void object_of_exec(bool in_flight)
{
    say("Q8 user object, exec %s: graph destroyed:", in_flight ? "with 100 ms pending" : "idle");
    CUgraph graph = graph_with_object(in_flight ? 100 : 1);
    CUgraphExec exec = instantiate(graph);
    TRY(cuGraphDestroy(graph));
    sleep_ms(20);
    say(" %s;", atomic_load(&destroyed_by) ? "destructor CALLED" : "nothing");
    uint64_t launched = now_ns();
    TRY(cuGraphLaunch(exec, nonblocking));
    if (!in_flight)
        settle();
    uint64_t start = now_ns();
    say(" cuGraphExecDestroy ");
    say_took(MS(cuGraphExecDestroy(exec)));
    say(",");
    say_destroyed(start);
    if (in_flight && atomic_load(&destroyed_by))
        say(" %.1f ms after the launch", (double)(atomic_load(&destroyed_ns) - launched) / 1e6);
    settle();
    end_line();
}

static void object_synchronised(void)
{
    say("Q8 user object, exec destroyed with 100 ms pending, then cuCtxSynchronize:");
    CUgraph graph = graph_with_object(100);
    CUgraphExec exec = instantiate(graph);
    TRY(cuGraphDestroy(graph));
    TRY(cuGraphLaunch(exec, nonblocking));
    TRY(cuGraphExecDestroy(exec));
    settle();
    say_destroyed(now_ns());
    say(" (the call is the synchronise)");
    end_line();
}

static void object_of_clone(void)
{
    CUgraph clone = NULL;

    say("Q8 user object, graph cloned, then");
    CUgraph graph = graph_with_object(1);
    TRY(cuGraphClone(&clone, graph));
    TRY(cuGraphDestroy(graph));
    sleep_ms(20);
    say(" destroyed: %s; clone destroyed:",
        atomic_load(&destroyed_by) ? "destructor CALLED" : "nothing");
    uint64_t start = now_ns();
    TRY(cuGraphDestroy(clone));
    say_destroyed(start);
    end_line();
}

/* The object is given to the graph of a capture that is still open. */
static void object_of_capture(void)
{
    CUuserObject object = NULL;
    CUgraph open = NULL, graph = NULL;
    CUstreamCaptureStatus status;
    cuuint64_t id;

    say("Q8 user object given to the graph of an open capture:");
    atomic_store(&destroyed_by, 0);
    begin_capture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    TRY(cuUserObjectCreate(&object, &destroyed_by, destructor, 1,
                           CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    TRY(cuStreamGetCaptureInfo(blocking, &status, &id, &open, NULL, NULL, NULL));
    say(" retain %d,", (int)cuGraphRetainUserObject(open, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    say(" end %d,", (int)cuStreamEndCapture(blocking, &graph));
    say(" same graph: %s;", yes_no(graph == open));
    uint64_t start = now_ns();
    if (graph != NULL)
        TRY(cuGraphDestroy(graph));
    say(" cuGraphDestroy:");
    say_destroyed(start);
    end_line();
}

/* A capture that breaks takes its graph, and so the object, with it. */
static void object_of_broken_capture(void)
{
    CUuserObject object = NULL;
    CUgraph open = NULL, graph = NULL;
    CUstreamCaptureStatus status;
    cuuint64_t id;

    say("Q8 user object of a capture that is broken:");
    atomic_store(&destroyed_by, 0);
    begin_capture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    TRY(cuUserObjectCreate(&object, &destroyed_by, destructor, 1,
                           CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    TRY(cuStreamGetCaptureInfo(blocking, &status, &id, &open, NULL, NULL, NULL));
    TRY(cuGraphRetainUserObject(open, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    say(" cuMemsetD8 %d,", (int)cuMemsetD8(dev_a, 0, 16));
    sleep_ms(20);
    say(" by then %s,", atomic_load(&destroyed_by) ? "destructor CALLED" : "nothing");
    uint64_t start = now_ns();
    say(" end %d:", (int)cuStreamEndCapture(blocking, &graph));
    say_destroyed(start);
    end_line();
}

static void q8(unsigned unused)
{
    (void)unused;
    host_function_runs();
    object_of_graph();
    object_of_exec(false);
    object_of_exec(true);
    object_synchronised();
    object_of_clone();
    object_of_capture();
    object_of_broken_capture();
}

/* ---- Q9: what the runtime asks of the driver during a capture ---- */

/* Between the runtime and the driver: cuGetProcAddress is ours, as the runtime's dlsym is, and the
 * pointers that it hands out lead through a few bytes of code that note the call and go on. */
struct traced {
    uint64_t magic; /* the code below reads `real` behind it */
    void *real;
    char name[56];
};

enum { TRACED_LIMIT = 1024, THUNK_BYTES = 24, NOTED_LIMIT = 32 };
static struct traced traced[TRACED_LIMIT];
static unsigned traced_count;
static unsigned char *thunks;
static bool tracing, noting;
static const struct traced *noted[NOTED_LIMIT];
static unsigned noted_count;

void *dlsym(void *handle, const char *name);
void note_call(const struct traced *t);

static void *plain_dlsym(void *handle, const char *name)
{
    static void *(*real)(void *, const char *);

    if (real == NULL)
        real = (__typeof__(real))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (real == NULL)
        real = (__typeof__(real))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    return real(handle, name);
}

__attribute__((used)) void note_call(const struct traced *t)
{
    if (noting && noted_count < NOTED_LIMIT)
        noted[noted_count++] = t;
}

#ifdef __x86_64__
__asm__(".text\n"
        ".globl note_and_go_on\n"
        ".hidden note_and_go_on\n"
        "note_and_go_on:\n"
        "    push %rdi\n"
        "    push %rsi\n"
        "    push %rdx\n"
        "    push %rcx\n"
        "    push %r8\n"
        "    push %r9\n"
        "    push %r11\n"
        "    mov %r11, %rdi\n"
        "    call note_call@PLT\n"
        "    pop %r11\n"
        "    pop %r9\n"
        "    pop %r8\n"
        "    pop %rcx\n"
        "    pop %rdx\n"
        "    pop %rsi\n"
        "    pop %rdi\n"
        "    jmp *8(%r11)\n");
extern const char note_and_go_on[] __attribute__((visibility("hidden")));

static void *thunk_of(const struct traced *t, size_t index)
{
    unsigned char *code = thunks + index * THUNK_BYTES;
    uint64_t argument = (uint64_t)(uintptr_t)t, target = (uint64_t)(uintptr_t)note_and_go_on;

    memcpy(code, "\x49\xbb", 2); /* mov $argument, %r11 */
    memcpy(code + 2, &argument, 8);
    memcpy(code + 10, "\x49\xba", 2); /* mov $target, %r10 */
    memcpy(code + 12, &target, 8);
    memcpy(code + 20, "\x41\xff\xe2", 3); /* jmp *%r10 */
    return code;
}
#endif

static CUresult get_traced(const char *name, void **pfn, int version, cuuint64_t flags,
                           CUdriverProcAddressQueryResult *status)
{
    CUresult rc = cuGetProcAddress(name, pfn, version, flags, status);

    if (rc != CUDA_SUCCESS || pfn == NULL || *pfn == NULL || traced_count == TRACED_LIMIT)
        return rc;
    if (strcmp(name, "cuGetProcAddress") == 0) {
        *pfn = (void *)(uintptr_t)get_traced;
        return rc;
    }
#ifdef __x86_64__
    struct traced *t = &traced[traced_count];
    t->real = *pfn;
    snprintf(t->name, sizeof(t->name), "%s%s", name,
             flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ? " (ptsz)" : "");
    *pfn = thunk_of(t, traced_count++);
#endif
    return rc;
}

void *dlsym(void *handle, const char *name)
{
    if (tracing && strcmp(name, "cuGetProcAddress_v2") == 0)
        return (void *)(uintptr_t)get_traced;
    return plain_dlsym(handle, name);
}

static void *runtime;
#define RT(name) ((__typeof__(&(name)))plain_dlsym(runtime, #name))

static void *rt_host, *rt_dev, *rt_pinned;
static cudaEvent_t rt_event;

static int rt_copy_to_device(void)
{
    return (int)RT(cudaMemcpy)(rt_dev, rt_host, 4 * KB, cudaMemcpyHostToDevice);
}

static int rt_copy_to_host(void)
{
    return (int)RT(cudaMemcpy)(rt_host, rt_dev, 4 * KB, cudaMemcpyDeviceToHost);
}

static int rt_copy_async(void)
{
    return (int)RT(cudaMemcpyAsync)(rt_dev, rt_host, 4 * KB, cudaMemcpyHostToDevice, 0);
}

static int rt_malloc(void)
{
    void *p = NULL;

    return (int)RT(cudaMalloc)(&p, 4 * KB);
}

static int rt_malloc_host(void)
{
    void *p = NULL;

    return (int)RT(cudaMallocHost)(&p, 4 * KB);
}

static int rt_free_host(void)
{
    return (int)RT(cudaFreeHost)(rt_pinned);
}

static int rt_event_query(void)
{
    return (int)RT(cudaEventQuery)(rt_event);
}

static int rt_memset(void)
{
    return (int)RT(cudaMemset)(rt_dev, 0, 4 * KB);
}

static int rt_synchronize(void)
{
    return (int)RT(cudaDeviceSynchronize)();
}

static int rt_malloc_async(void)
{
    void *p = NULL;

    return (int)RT(cudaMallocAsync)(&p, 4 * KB, 0);
}

static int rt_instantiate(void)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    int rc = (int)RT(cudaGraphCreate)(&graph, 0);

    return rc ? rc : (int)RT(cudaGraphInstantiate)(&exec, graph, 0);
}

static int rt_launch_outside(void)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node;

    RT(cudaGraphCreate)(&graph, 0);
    RT(cudaGraphAddMemcpyNode1D)
    (&node, graph, NULL, 0, rt_dev, rt_host, 4 * KB, cudaMemcpyHostToDevice);
    RT(cudaGraphInstantiate)(&exec, graph, 0);
    RT(cudaGraphExecMemcpyNodeSetParams1D)
    (exec, node, rt_dev, rt_host, 4 * KB, cudaMemcpyHostToDevice);
    RT(cudaGraphLaunch)(exec, 0);
    RT(cudaGraphExecDestroy)(exec);
    return (int)RT(cudaGraphDestroy)(graph);
}

static void trace_call(const char *name, int (*call)(void), bool capture)
{
    int end = 0;
    size_t nodes = 0;

    if (capture)
        begin_capture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    noted_count = 0;
    noting = true;
    int rc = call();
    noting = false;
    if (capture)
        end = (int)drop_capture(blocking, &nodes);
    say("Q9 %s: %d/%d, calls", name, rc, end);
    for (unsigned i = 0; i < noted_count; i++)
        say("%s %s", i ? "," : "", noted[i]->name);
    say("%s", noted_count ? "" : " none that were looked up");
    end_line();
    RT(cudaGetLastError)();
    settle();
}

static bool open_runtime(void)
{
    int version = 0;

    tracing = true;
    thunks = mmap(NULL, (size_t)TRACED_LIMIT * THUNK_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    runtime = dlopen("libcudart.so.13", RTLD_NOW);
    if (runtime == NULL || thunks == MAP_FAILED) {
        say("Q9 not asked: %s", runtime == NULL ? dlerror() : "no executable memory");
        end_line();
        return false;
    }
    RT(cudaRuntimeGetVersion)(&version);
    RT(cudaFree)(NULL);
    say("Q9 runtime %d, B captures in Global mode, %u driver functions looked up", version,
        traced_count);
    end_line();
    return true;
}

static void q9(unsigned unused)
{
    static const struct {
        const char *name;
        int (*call)(void);
    } traced_calls[] = {
        {"cudaMemcpy H2D pageable", rt_copy_to_device},
        {"cudaMemcpy D2H pageable", rt_copy_to_host},
        {"cudaMemcpyAsync H2D, stream 0", rt_copy_async},
        {"cudaMalloc", rt_malloc},
        {"cudaMallocHost", rt_malloc_host},
        {"cudaFreeHost", rt_free_host},
        {"cudaEventQuery", rt_event_query},
        {"cudaMemset", rt_memset},
        {"cudaDeviceSynchronize", rt_synchronize},
        {"cudaMallocAsync, stream 0", rt_malloc_async},
        {"cudaGraphInstantiate", rt_instantiate},
    };

    (void)unused;
    if (!open_runtime())
        return;
    rt_host = take(PAGEABLE, 64 * KB);
    RT(cudaMalloc)(&rt_dev, 64 * KB);
    RT(cudaMallocHost)(&rt_pinned, 64 * KB);
    RT(cudaEventCreate)(&rt_event);
    RT(cudaEventRecord)(rt_event, 0);
    settle();
    for (size_t i = 0; i < COUNT(traced_calls); i++) {
        trace_call(traced_calls[i].name, traced_calls[i].call, true);
        if (traced_calls[i].call != rt_free_host)
            trace_call("  the same without a capture", traced_calls[i].call, false);
    }
    trace_call("graph with a memcpy node: create, add, instantiate, set, launch, destroy",
               rt_launch_outside, false);
}

/* ---- Q10: captures that end in other ways ---- */

static void capture_to_graph(void)
{
    CUgraph mine = NULL, got = NULL;
    size_t nodes = 0;

    say("Q10 cuStreamBeginCaptureToGraph:");
    TRY(cuGraphCreate(&mine, 0));
    say(" begin %d,", (int)cuStreamBeginCaptureToGraph(nonblocking, mine, NULL, NULL, 0,
                                                       CU_STREAM_CAPTURE_MODE_GLOBAL));
    say(" memset %d,", (int)cuMemsetD8Async(dev_b, 0, 16, nonblocking));
    say(" cuGraphGetNodes meanwhile %d", (int)cuGraphGetNodes(mine, NULL, &nodes));
    say(" (%zu),", nodes);
    say(" end %d,", (int)cuStreamEndCapture(nonblocking, &got));
    TRY(cuGraphGetNodes(mine, NULL, &nodes));
    say(" the graph returned is %s, %zu node(s);", got == mine ? "mine" : "another", nodes);
    TRY(cuStreamBeginCaptureToGraph(nonblocking, mine, NULL, NULL, 0,
                                    CU_STREAM_CAPTURE_MODE_GLOBAL));
    CUresult rc = cuCtxSynchronize();
    got = NULL;
    say(" broken: %d/%d,", (int)rc, (int)cuStreamEndCapture(nonblocking, &got));
    say(" the graph returned is %s,", got == mine ? "mine" : got ? "another" : "NULL");
    say(" cuGraphGetNodes %d", (int)cuGraphGetNodes(mine, NULL, &nodes));
    say(" (%zu), cuGraphDestroy %d", nodes, (int)cuGraphDestroy(mine));
    end_line();
}

static CUresult end_elsewhere(void *unused)
{
    size_t nodes;

    (void)unused;
    return drop_capture(nonblocking, &nodes);
}

static CUresult begin_elsewhere(void *unused)
{
    (void)unused;
    return cuStreamBeginCapture(nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static void other_threads_end(void)
{
    static const char *const modes[] = {"Global", "ThreadLocal", "Relaxed"};
    size_t nodes;

    say("Q10 cuStreamEndCapture by another thread, then by the one that began:");
    for (int mode = 0; mode < 3; mode++) {
        begin_capture(nonblocking, (CUstreamCaptureMode)mode);
        CUresult other = on_other_thread(end_elsewhere, NULL);
        say(" %s %d, %d;", modes[mode], (int)other, (int)drop_capture(nonblocking, &nodes));
    }
    end_line();
}

static void thread_gone(void)
{
    CUdeviceptr p = 0;
    size_t nodes;

    say("Q10 a Global capture of a thread that has exited:");
    TRY(on_other_thread(begin_elsewhere, NULL));
    say(" cuMemAlloc %d,", (int)cuMemAlloc(&p, 4 * KB));
    say(" end by another thread %d,", (int)drop_capture(nonblocking, &nodes));
    say(" cuStreamDestroy %d,", (int)cuStreamDestroy(nonblocking));
    say(" then cuMemAlloc %d", (int)cuMemAlloc(&p, 4 * KB));
    end_line();
}

static void capturing_stream_destroyed(void)
{
    CUstream doomed = NULL;
    CUdeviceptr p = 0;

    say("Q10 cuStreamDestroy of the capturing stream:");
    TRY(cuStreamCreate(&doomed, CU_STREAM_DEFAULT));
    begin_capture(doomed, CU_STREAM_CAPTURE_MODE_GLOBAL);
    say(" %d,", (int)cuStreamDestroy(doomed));
    say(" then cuMemAlloc %d,", (int)cuMemAlloc(&p, 4 * KB));
    say(" cuMemsetD8 %d,", (int)cuMemsetD8(dev_a, 0, 16));
    say(" cuCtxSynchronize %d", (int)cuCtxSynchronize());
    end_line();
}

static void captured_event(void)
{
    CUevent captured = NULL;
    size_t nodes;

    say("Q10 an event recorded in the capture: during it cuEventQuery/end");
    TRY(cuEventCreate(&captured, CU_EVENT_DISABLE_TIMING));
    begin_capture(nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    TRY(cuEventRecord(captured, nonblocking));
    CUresult rc = cuEventQuery(captured);
    say(" %d/%d,", (int)rc, (int)drop_capture(nonblocking, &nodes));
    begin_capture(nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    TRY(cuEventRecord(captured, nonblocking));
    CUstreamCaptureMode before = exchange(CU_STREAM_CAPTURE_MODE_RELAXED);
    rc = cuEventQuery(captured);
    exchange(before);
    say(" in Relaxed mode %d/%d,", (int)rc, (int)drop_capture(nonblocking, &nodes));
    begin_capture(nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    TRY(cuEventRecord(captured, nonblocking));
    rc = cuEventSynchronize(captured);
    say(" cuEventSynchronize %d/%d;", (int)rc, (int)drop_capture(nonblocking, &nodes));
    say(" after it query %d,", (int)cuEventQuery(captured));
    say(" synchronise %d,", (int)cuEventSynchronize(captured));
    say(" another stream waits %d", (int)cuStreamWaitEvent(nonblocking2, captured, 0));
    TRY(cuEventRecord(captured, nonblocking));
    settle();
    say("; recorded anew, query %d", (int)cuEventQuery(captured));
    TRY(cuEventDestroy(captured));
    end_line();
}

static void captured_launch(void)
{
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    CUgraph inner = spinning_graph(1), outer, child = NULL;
    CUgraphExec exec = instantiate(inner);
    size_t nodes = 0;

    say("Q10 cuGraphLaunch captured:");
    TRY(cuStreamBeginCapture(nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
    say(" %d,", (int)cuGraphLaunch(exec, nonblocking));
    outer = end_capture(nonblocking);
    CUgraphNode node = only_node(outer);
    TRY(cuGraphNodeGetType(node, &type));
    say(" node type %d (child graph is %d),", (int)type, (int)CU_GRAPH_NODE_TYPE_GRAPH);
    if (type == CU_GRAPH_NODE_TYPE_GRAPH && TRY(cuGraphChildGraphNodeGetGraph(node, &child)) == 0) {
        TRY(cuGraphGetNodes(child, NULL, &nodes));
        say(" its graph is %s with %zu node(s)", child == inner ? "the first" : "a clone", nodes);
    }
    end_line();
    TRY(cuGraphExecDestroy(exec));
    TRY(cuGraphDestroy(inner));
    TRY(cuGraphDestroy(outer));
}

/* A node of ours put into the graph of an open capture, and the stream's work behind it. */
static void node_in_open_capture(void)
{
    CUgraph open = NULL;
    CUgraphNode node = NULL;
    const CUgraphNode *deps = NULL;
    const CUgraphEdgeData *edges = NULL;
    size_t dep_count = 0, nodes = 0;
    CUstreamCaptureStatus status;
    cuuint64_t id;
    unsigned char *pinned = take(PINNED, 4 * KB);
    CUDA_MEMCPY3D c = flat_copy(true, pinned, dev_a, 4 * KB);

    say("Q10 in an open capture:");
    begin_capture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    say(" cuStreamGetCaptureInfo %d,",
        (int)cuStreamGetCaptureInfo(blocking, &status, &id, &open, &deps, &edges, &dep_count));
    say(" %zu dependencies, cuGraphGetNodes %d", dep_count,
        (int)cuGraphGetNodes(open, NULL, &nodes));
    say(" (%zu), cuGraphAddMemcpyNode %d,", nodes,
        (int)cuGraphAddMemcpyNode(&node, open, deps, dep_count, &c, primary));
    say(" cuStreamUpdateCaptureDependencies %d,",
        (int)cuStreamUpdateCaptureDependencies(blocking, &node, NULL, 1,
                                               CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    say(" cuGraphMemcpyNodeGetParams %d,", (int)cuGraphMemcpyNodeGetParams(node, &c));
    say(" cuGraphMemcpyNodeSetParams %d,", (int)cuGraphMemcpyNodeSetParams(node, &c));
    say(" memset behind it %d,", (int)cuMemsetD8Async(dev_b, 0, 16, blocking));
    say(" end %d", (int)drop_capture(blocking, &nodes));
    say(" (%zu nodes)", nodes);
    end_line();
    give(PINNED, pinned, 4 * KB);
}

static void broken_capture_asked(void)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    CUgraph graph = NULL;
    size_t nodes;

    say("Q10 a broken capture:");
    begin_capture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    say(" cuMemsetD8 %d,", (int)cuMemsetD8(dev_a, 0, 16));
    CUresult rc = cuStreamIsCapturing(blocking, &status);
    say(" cuStreamIsCapturing %d status %d,", (int)rc, (int)status);
    rc = cuStreamGetCaptureInfo(blocking, &status, &id, &graph, NULL, NULL, NULL);
    say(" cuStreamGetCaptureInfo %d status %d graph %s,", (int)rc, (int)status,
        graph ? "given" : "NULL");
    rc = cuMemsetD8Async(dev_a, 0, 16, blocking);
    say(" memset on it %d,", (int)rc);
    rc = cuMemsetD8(dev_a, 0, 16);
    say(" cuMemsetD8 again %d,", (int)rc);
    rc = cuCtxSynchronize();
    say(" cuCtxSynchronize %d, end %d", (int)rc, (int)drop_capture(blocking, &nodes));
    end_line();
}

static void q10(unsigned first)
{
    static void (*const parts[])(void) = {
        capture_to_graph, other_threads_end,    capturing_stream_destroyed, captured_event,
        captured_launch,  node_in_open_capture, broken_capture_asked,       thread_gone,
    };

    for (unsigned i = first; i < COUNT(parts); i++) {
        progress->part = i + 1;
        parts[i]();
    }
}

/* ---- Q11: what graphs cost ---- */

static double ns_each(uint64_t start_ns, size_t count)
{
    return (double)(now_ns() - start_ns) / (double)count;
}

static CUgraph many_copies(unsigned char *pinned, size_t count)
{
    TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (size_t i = 0; i < count; i++)
        TRY(cuMemcpyHtoDAsync(dev_a + i * 4 * KB, pinned + i * 4 * KB, 4 * KB, nonblocking2));
    return end_capture(nonblocking2);
}

static void cost_of_launches(CUgraphExec exec, size_t nodes)
{
    size_t launches = nodes < 100 ? 500 : 50;
    double best = 1e18;

    for (int round = 0; round < 5; round++) {
        uint64_t issued_ns = 0;
        for (size_t i = 0; i < launches; i++) {
            uint64_t start = now_ns();
            TRY(cuGraphLaunch(exec, nonblocking));
            issued_ns += now_ns() - start;
            TRY(cuStreamSynchronize(nonblocking));
        }
        double each = (double)issued_ns / (double)launches;
        best = each < best ? each : best;
    }
    say(" cuGraphLaunch %.0f ns,", best);
    uint64_t start = now_ns();
    for (size_t i = 0; i < launches; i++)
        TRY(cuGraphLaunch(exec, nonblocking));
    TRY(cuStreamSynchronize(nonblocking));
    say(" in a row and done %.0f ns", ns_each(start, launches));
}

static void cost_of_looking(CUgraph graph, size_t count)
{
    CUgraphNode *nodes = calloc(count, sizeof(*nodes));
    CUgraphNodeType type;
    CUDA_MEMCPY3D c;

    if (nodes == NULL)
        return;
    uint64_t start = now_ns();
    TRY(cuGraphGetNodes(graph, nodes, &count));
    say(", cuGraphGetNodes %.0f ns,", ns_each(start, 1));
    start = now_ns();
    for (size_t i = 0; i < count; i++)
        TRY(cuGraphNodeGetType(nodes[i], &type));
    say(" GetType %.0f ns a node,", ns_each(start, count));
    start = now_ns();
    for (size_t i = 0; i < count; i++)
        TRY(cuGraphMemcpyNodeGetParams(nodes[i], &c));
    say(" MemcpyNodeGetParams %.0f ns a node", ns_each(start, count));
    free(nodes);
}

static void cost_of_setting(CUgraph graph, CUgraphExec exec, size_t count)
{
    CUgraphNode *nodes = calloc(count, sizeof(*nodes));
    CUDA_MEMCPY3D c;

    if (nodes == NULL)
        return;
    TRY(cuGraphGetNodes(graph, nodes, &count));
    uint64_t start = now_ns();
    for (size_t i = 0; i < count; i++) {
        cuGraphMemcpyNodeGetParams(nodes[i], &c);
        TRY(cuGraphExecMemcpyNodeSetParams(exec, nodes[i], &c, primary));
    }
    say(", get and cuGraphExecMemcpyNodeSetParams %.0f ns a node", ns_each(start, count));
    free(nodes);
}

static void q11(unsigned unused)
{
    static const size_t counts[] = {1, 10, 1000};
    unsigned char *pinned = take(PINNED, 1000 * 4 * KB);

    (void)unused;
    for (size_t i = 0; i < COUNT(counts); i++) {
        TRY(cuGraphDestroy(many_copies(pinned, counts[i])));
        say("Q11 %zu H2D nodes of 4 KB pinned:", counts[i]);
        uint64_t start = now_ns();
        CUgraph graph = many_copies(pinned, counts[i]);
        say(" capture %.0f ns a copy,", ns_each(start, counts[i]));
        start = now_ns();
        CUgraphExec exec = instantiate(graph);
        say(" cuGraphInstantiate %.0f us,", ns_each(start, 1000));
        cost_of_launches(exec, counts[i]);
        cost_of_looking(graph, counts[i]);
        cost_of_setting(graph, exec, counts[i]);
        end_line();
        TRY(cuGraphExecDestroy(exec));
        TRY(cuGraphDestroy(graph));
    }
    give(PINNED, pinned, 1000 * 4 * KB);
}

/* ---- the list, and the processes that work through it ---- */

static const struct question {
    int number;
    void (*ask)(unsigned first); /* from this part of it on */
} questions[] = {
    {1, q1}, {2, q2}, {3, q3}, {4, q4},   {5, q5},   {6, q6},
    {7, q7}, {8, q8}, {9, q9}, {10, q10}, {11, q11},
};

static uint64_t program_start_ns;

static unsigned seconds_left(void)
{
    uint64_t passed = (now_ns() - program_start_ns) / 1000000000U;

    return passed < TOTAL_LIMIT_S ? (unsigned)(TOTAL_LIMIT_S - passed) : 0;
}

static bool is_wanted(const struct question *q, int argc, char **argv)
{
    if (argc < 2)
        return true;
    for (int i = 1; i < argc; i++)
        if (atoi(argv[i]) == q->number)
            return true;
    return false;
}

static void answer(const struct question *q, unsigned first)
{
    unsigned left = seconds_left();

    alarm(left < CHILD_LIMIT_S ? left : CHILD_LIMIT_S);
    if (set_up() != CUDA_SUCCESS) {
        say(" Q%d NOT ASKED", q->number);
        end_line();
        _exit(0);
    }
    q->ask(first);
    _exit(0);
}

/* Ends the line of a child that died; false when it has answered all. */
static bool account_for(int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return false;
    if (WIFSIGNALED(status))
        say("%s DIED of signal %d%s", progress->midway ? "" : "(between lines)", WTERMSIG(status),
            WTERMSIG(status) == SIGALRM ? " (too long)" : "");
    if (progress->midway)
        end_line();
    return true;
}

/* A child that died goes on behind the part it was at, as long as it gets anywhere. */
static void ask(const struct question *q)
{
    unsigned first = 0;

    progress->part = 0;
    while (seconds_left() > 0) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            answer(q, first);
        if (child < 0 || waitpid(child, &status, 0) != child)
            return;
        if (!account_for(status) || progress->part <= first)
            return;
        first = progress->part;
    }
    printf("Q%d out of time\n", q->number);
}

int main(int argc, char **argv)
{
    void *shared =
        mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED) {
        perror("probe_capture: mmap");
        return 1;
    }
    progress = shared;
    program_start_ns = now_ns();
    for (size_t i = 0; i < COUNT(questions); i++)
        if (is_wanted(&questions[i], argc, argv))
            ask(&questions[i]);
    printf("probe_capture done after %.1f s\n", ms_since(program_start_ns) / 1e3);
    return 0;
}

/* What calls cost, where they are found, and what ours do while somebody captures. */
#include "world.h"

#include "../../asking_calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

/* ---- Q8: what calls cost ---- */

#define ROUNDS 5

/* Nanoseconds per iteration, median of the rounds; `i` counts inside the statement. */
#define COST(name, iterations, statement)                                                          \
    do {                                                                                           \
        double ns_[ROUNDS];                                                                        \
        for (int round_ = 0; round_ < ROUNDS; round_++) {                                          \
            ns_[round_] = NS_EACH(iterations, statement);                                          \
            cuCtxSynchronize();                                                                    \
        }                                                                                          \
        qsort(ns_, ROUNDS, sizeof ns_[0], by_value);                                               \
        say(" %s %.1f,", name, ns_[ROUNDS / 2]);                                                   \
    } while (0)

/* The result of the last iteration tells whether an error path was measured. */
#define CALL_COST(name, iterations, call)                                                          \
    do {                                                                                           \
        CUresult last_ = CUDA_SUCCESS;                                                             \
        COST(name, iterations, last_ = (call));                                                    \
        check(name, last_);                                                                        \
    } while (0)

static void cost_of_streams(void)
{
    const unsigned n = 100000;
    CUcontext current;
    unsigned flags;
    CUstreamCaptureStatus status;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    CALL_COST("cuCtxGetCurrent", n, cuCtxGetCurrent(&current));
    CALL_COST("cuStreamGetFlags", n, cuStreamGetFlags(nonblocking, &flags));
    CALL_COST("cuStreamGetCtx", n, cuStreamGetCtx(nonblocking, &current));
    CALL_COST("cuStreamQuery idle", n, cuStreamQuery(nonblocking));
    CALL_COST("cuStreamIsCapturing", n, cuStreamIsCapturing(nonblocking, &status));
    CALL_COST("cuCtxPushCurrent+Pop", n, (cuCtxPushCurrent(primary), cuCtxPopCurrent(&current)));
    CALL_COST("cuThreadExchangeStreamCaptureMode pair", n,
              (cuThreadExchangeStreamCaptureMode(&mode), cuThreadExchangeStreamCaptureMode(&mode)));
}

static void cost_of_events(void)
{
    const unsigned n = 100000;
    CUevent ring[64] = {NULL};

    for (size_t k = 0; k < COUNT(ring); k++)
        TRY(cuEventCreate(&ring[k], CU_EVENT_DISABLE_TIMING));
    CALL_COST("cuEventRecord same", n, cuEventRecord(event, nonblocking));
    CALL_COST("cuEventRecord ring of 64", n, cuEventRecord(ring[i % 64], nonblocking));
    CALL_COST("cuEventQuery", n, cuEventQuery(event));
    for (size_t k = 0; k < COUNT(ring); k++)
        cuEventDestroy(ring[k]);
}

static void cost_of_memory(void)
{
    const unsigned n = 100000;
    unsigned type;
    const CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;

    CALL_COST("cuPointerGetAttribute pinned", n,
              cuPointerGetAttribute(&type, attribute, uva(pinned)));
    CALL_COST("cuPointerGetAttribute pageable", n,
              cuPointerGetAttribute(&type, attribute, uva(pageable)));
    CALL_COST("cuPointerGetAttribute device", n, cuPointerGetAttribute(&type, attribute, dev_a));
    CALL_COST("cuMemcpyHtoDAsync 4 KB pinned (10,000)", 10000,
              cuMemcpyHtoDAsync(dev_a, pinned, 4 * KB, nonblocking));
}

static void cost_of_clocks(void)
{
    const unsigned n = 100000;
    struct timespec t;
    uint64_t sum = 0;

#ifdef __x86_64__
    COST("rdtsc", n, sum += __rdtsc());
#endif
    COST("clock_gettime", n, clock_gettime(CLOCK_MONOTONIC, &t));
    COST("gettid", n, sum += (uint64_t)syscall(SYS_gettid));
    /* Keeps the sum, and with it the loops above. */
    __asm__ volatile("" : : "r"(sum));
}

void q8(void)
{
    cost_of_streams();
    cost_of_events();
    cost_of_memory();
    cost_of_clocks();
}

/* ---- Q9: is every pointer of cuGetProcAddress also an exported symbol? ---- */

static const char *const api_names[] = {"cuMemcpy",
                                        "cuMemcpyAsync",
                                        "cuMemcpyPeer",
                                        "cuMemcpyPeerAsync",
                                        "cuMemcpyHtoD",
                                        "cuMemcpyHtoDAsync",
                                        "cuMemcpyDtoH",
                                        "cuMemcpyDtoHAsync",
                                        "cuMemcpyDtoD",
                                        "cuMemcpyDtoDAsync",
                                        "cuMemcpyHtoA",
                                        "cuMemcpyHtoAAsync",
                                        "cuMemcpyAtoH",
                                        "cuMemcpyAtoHAsync",
                                        "cuMemcpyAtoD",
                                        "cuMemcpyDtoA",
                                        "cuMemcpyAtoA",
                                        "cuMemcpy2D",
                                        "cuMemcpy2DUnaligned",
                                        "cuMemcpy2DAsync",
                                        "cuMemcpy3D",
                                        "cuMemcpy3DAsync",
                                        "cuMemcpy3DPeer",
                                        "cuMemcpy3DPeerAsync",
                                        "cuMemcpyBatchAsync",
                                        "cuMemcpy3DBatchAsync",
                                        "cuMemsetD8",
                                        "cuMemsetD8Async",
                                        "cuMemsetD16Async",
                                        "cuMemsetD32Async",
                                        "cuMemsetD2D8Async",
                                        "cuMemsetD2D16Async",
                                        "cuMemsetD2D32Async",
                                        "cuStreamCreate",
                                        "cuStreamCreateWithPriority",
                                        "cuStreamDestroy",
                                        "cuStreamQuery",
                                        "cuStreamSynchronize",
                                        "cuStreamWaitEvent",
                                        "cuStreamAddCallback",
                                        "cuStreamBeginCapture",
                                        "cuStreamBeginCaptureToGraph",
                                        "cuStreamEndCapture",
                                        "cuStreamIsCapturing",
                                        "cuStreamGetCaptureInfo",
                                        "cuStreamUpdateCaptureDependencies",
                                        "cuStreamGetFlags",
                                        "cuStreamGetCtx",
                                        "cuStreamGetId",
                                        "cuStreamGetPriority",
                                        "cuStreamAttachMemAsync",
                                        "cuStreamWaitValue32",
                                        "cuStreamWriteValue32",
                                        "cuStreamWaitValue64",
                                        "cuStreamWriteValue64",
                                        "cuStreamBatchMemOp",
                                        "cuStreamCopyAttributes",
                                        "cuEventCreate",
                                        "cuEventDestroy",
                                        "cuEventRecord",
                                        "cuEventRecordWithFlags",
                                        "cuEventQuery",
                                        "cuEventSynchronize",
                                        "cuEventElapsedTime",
                                        "cuMemAllocHost",
                                        "cuMemHostAlloc",
                                        "cuMemHostRegister",
                                        "cuMemHostUnregister",
                                        "cuMemHostGetDevicePointer",
                                        "cuMemHostGetFlags",
                                        "cuMemFree",
                                        "cuMemFreeHost",
                                        "cuMemFreeAsync",
                                        "cuMemAllocAsync",
                                        "cuLaunchKernel",
                                        "cuLaunchKernelEx",
                                        "cuLaunchCooperativeKernel",
                                        "cuLaunchHostFunc",
                                        "cuGraphLaunch",
                                        "cuGraphUpload"};

static const char *const api_suffixes[] = {"",      "_v2",      "_v3",      "_ptsz",
                                           "_ptds", "_v2_ptsz", "_v2_ptds", "_v3_ptsz"};

static bool is_exported(void *library, const char *name, const void *pointer)
{
    char symbol[128];

    for (size_t i = 0; i < COUNT(api_suffixes); i++) {
        snprintf(symbol, sizeof symbol, "%s%s", name, api_suffixes[i]);
        if (dlsym(library, symbol) == pointer)
            return true;
    }
    return false;
}

void q9(void)
{
    unsigned equal = 0, different = 0, absent = 0;
    void *library = dlopen("libcuda.so.1", RTLD_LAZY);

    if (!library) {
        say(" no libcuda.so.1: %s", dlerror());
        return;
    }
    for (int flags = 0; flags <= 2; flags++) {
        for (size_t i = 0; i < COUNT(api_names); i++) {
            void *pointer = NULL;
            CUdriverProcAddressQueryResult found;
            CUresult rc =
                cuGetProcAddress(api_names[i], &pointer, 13000, (cuuint64_t)flags, &found);
            if (rc != CUDA_SUCCESS || !pointer) {
                absent++;
                say(" %s/%d absent(%d),", api_names[i], flags, (int)rc);
            } else if (is_exported(library, api_names[i], pointer)) {
                equal++;
            } else {
                different++;
                say(" %s/%d DIFFERENT,", api_names[i], flags);
            }
        }
    }
    say(" names %zu x 3 flags: equal %u, different %u, absent %u", COUNT(api_names), equal,
        different, absent);
}

/* ---- Q20, Q21: our own calls while somebody captures ---- */

static CUevent scratch_event;
static CUstream scratch_stream;

/* A query in Relaxed mode, as ours are. */
static CUresult relaxed(CUresult (*query)(void))
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    cuThreadExchangeStreamCaptureMode(&mode);
    CUresult rc = query();
    cuThreadExchangeStreamCaptureMode(&mode);
    return rc;
}

static CUresult query_event(void)
{
    return cuEventQuery(event);
}

static CUresult query_stream(void)
{
    return cuStreamQuery(nonblocking2);
}

static CUresult destroy_scratch(void)
{
    CUevent doomed = scratch_event;

    scratch_event = NULL;
    return cuEventDestroy(doomed);
}

/* The first shows what the visit itself does, the switch to another thread included. The event that
 * EventDestroy destroys is the one that EventCreate made just before. */
#define GUESTS(X)                                                                                  \
    X(nothing, "nothing", NONE, CUDA_SUCCESS)                                                      \
    X(record_n, "EventRecord N", NONE, cuEventRecord(event, nonblocking2))                         \
    X(record_b, "EventRecord B", NONE, cuEventRecord(event, blocking))                             \
    X(create, "EventCreate", NONE, cuEventCreate(&scratch_event, CU_EVENT_DISABLE_TIMING))         \
    X(destroy, "EventDestroy", NONE, destroy_scratch())                                            \
    X(event_query, "EventQuery relaxed", NONE, relaxed(query_event))                               \
    X(stream_query, "StreamQuery relaxed", NONE, relaxed(query_stream))                            \
    X(stream, "StreamCreate blocking", NONE, cuStreamCreate(&scratch_stream, CU_STREAM_DEFAULT))   \
    X(wait_event, "StreamWaitEvent N", NONE, cuStreamWaitEvent(nonblocking2, event, 0))
GUESTS(DEFINE_CALL)
static const struct call guests[] = {GUESTS(LIST_CALL)};

static CUresult begin_capture(CUstream stream)
{
    CUresult rc = TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));

    if (rc == CUDA_SUCCESS)
        TRY(cuMemsetD8Async(dev_b, 0, 4 * KB, stream));
    return rc;
}

/* Result of cuStreamEndCapture, the graph being thrown away. */
static CUresult end_capture(CUstream stream)
{
    CUgraph graph = NULL;
    CUresult rc = cuStreamEndCapture(stream, &graph);

    if (graph)
        cuGraphDestroy(graph);
    return rc;
}

static void visit_capture(CUstream stream, const struct call *guest, bool other_thread)
{
    if (begin_capture(stream) != CUDA_SUCCESS)
        return;
    CUresult rc = other_thread ? on_other_thread(make_call, &guest, primary) : guest->call();
    CUresult end = end_capture(stream);
    say(" %s %d/%d,", guest->name, (int)rc, (int)end);
    if (scratch_stream) {
        cuStreamDestroy(scratch_stream);
        scratch_stream = NULL;
    }
}

void q20(void)
{
    for (int is_blocking = 1; is_blocking >= 0; is_blocking--) {
        CUstream capturing = NULL;
        TRY(cuStreamCreate(&capturing, is_blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
        for (int other_thread = 0; other_thread < 2; other_thread++) {
            say(" %s captures, %s thread:", is_blocking ? "B" : "N",
                other_thread ? "other" : "same");
            for (size_t i = 0; i < COUNT(guests); i++)
                visit_capture(capturing, &guests[i], other_thread != 0);
        }
        TRY(cuStreamDestroy(capturing));
    }
}

static void say_identity(const char *label, CUstream stream)
{
    unsigned flags = 99;
    unsigned long long id = 0;
    CUcontext context = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult rc_flags = cuStreamGetFlags(stream, &flags);
    CUresult rc_context = cuStreamGetCtx(stream, &context);
    CUresult rc_id = cuStreamGetId(stream, &id);
    CUresult rc_status = cuStreamIsCapturing(stream, &status);

    say(" %s GetFlags %d (flags %u) GetCtx %d (%s) GetId %d IsCapturing %d (status %d);", label,
        (int)rc_flags, flags, (int)rc_context, context == primary ? "ours" : "other", (int)rc_id,
        (int)rc_status, (int)status);
}

void q21(void)
{
    for (int is_blocking = 1; is_blocking >= 0; is_blocking--) {
        CUstream capturing = is_blocking ? blocking : nonblocking;
        if (begin_capture(capturing) != CUDA_SUCCESS)
            continue;
        say(" %s captures:", is_blocking ? "B" : "N");
        say_identity("itself", capturing);
        say_identity("idle N", nonblocking2);
        say_identity("L", LEGACY);
        say(" end %d;", (int)end_capture(capturing));
    }
}

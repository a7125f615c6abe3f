/* probe: asks the CUDA driver how it really behaves, one line of output per question.
 *
 *     gcc -std=gnu11 -O2 -pthread -I/usr/local/cuda/include tests/gpu/probe.c -o probe -lcuda
 *     ./probe              every question, under a minute
 *     ./probe 5 14         these only
 *
 * The questions are answered in a child process, in order. A question that crashes, hangs or leaves
 * the context unusable costs its own line only: the parent prints what was known, and a fresh child
 * goes on with the next one. A driver call that fails is shown in the line as {name=CUresult}.
 *
 * Words in the answers: "kernel" and "host" are the two kinds of work that keep a stream busy, a
 * spinning kernel and a host function that sleeps; B is a blocking stream, N a non-blocking one, L
 * the legacy stream; times are milliseconds; "a/b" beside a capture is the result of the call and
 * of cuStreamEndCapture.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cuda.h>
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
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KB 1024UL
#define MB (1024UL * KB)
#define LEGACY ((CUstream)0)
#define BUSY_MS 100
#define BUFFER_BYTES (4 * MB)
#define QUESTION_LIMIT_S 15
#define TOTAL_LIMIT_S 58

/* ---- the answer under construction ---- */

/* Shared with the parent, which prints it when the child dies half-way. */
static struct answer {
    int number;  /* of the question being answered; 0 between questions */
    size_t next; /* index of the question that a fresh child takes up */
    size_t used;
    char text[16 * 1024];
} * answer;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list args;
    size_t room = sizeof(answer->text) - answer->used;

    va_start(args, format);
    int wrote = vsnprintf(answer->text + answer->used, room, format, args);
    va_end(args);
    if (wrote > 0)
        answer->used += (size_t)wrote < room ? (size_t)wrote : room - 1;
}

/* Shows a failed call by its name, cut at the parenthesis; hands the result on. */
static CUresult check(const char *call, CUresult rc)
{
    if (rc != CUDA_SUCCESS)
        say(" {%.*s=%d}", (int)strcspn(call, "("), call, (int)rc);
    return rc;
}

#define TRY(call) check(#call, (call))

static const char *readiness(CUresult rc)
{
    static char other[4][24];
    static unsigned turn;

    if (rc == CUDA_SUCCESS)
        return "ready";
    if (rc == CUDA_ERROR_NOT_READY)
        return "not ready";
    char *text = other[turn++ % COUNT(other)];
    snprintf(text, sizeof(other[0]), "error %d", (int)rc);
    return text;
}

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

/* ---- the world that every question finds ---- */

static CUdevice device;
static CUcontext primary;
static CUfunction spin_kernel;
static CUstream blocking, nonblocking, nonblocking2;
static CUdeviceptr dev_a, dev_b;
static unsigned char *pinned, *pinned2, *pageable;
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

/* The spin kernel of the current context. */
static CUfunction load_spin(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;

    if (TRY(cuModuleLoadData(&module, spin_ptx)) == CUDA_SUCCESS)
        TRY(cuModuleGetFunction(&function, module, "spin"));
    return function;
}

static void launch_spin(CUfunction function, CUstream stream, unsigned ms)
{
    uint64_t duration_ns = (uint64_t)ms * 1000000U;
    void *params[] = {&duration_ns};

    if (function == NULL)
        return;
    TRY(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

static void CUDA_CB sleeper(void *ms)
{
    sleep_ms((unsigned)(uintptr_t)ms);
}

enum work { KERNEL, HOST, WORKS };
static const char *const work_names[WORKS] = {"kernel", "host"};

static void occupy(enum work work, CUstream stream, unsigned ms)
{
    if (work == KERNEL)
        launch_spin(spin_kernel, stream, ms);
    else
        TRY(cuLaunchHostFunc(stream, sleeper, (void *)(uintptr_t)ms));
}

static void settle(void)
{
    TRY(cuCtxSynchronize());
}

/* First uses load code and build staging buffers; none of that belongs in an answer. */
static void warm_up(void)
{
    occupy(KERNEL, nonblocking, 1);
    occupy(HOST, blocking, 1);
    cuMemcpyHtoD(dev_a, pageable, BUFFER_BYTES);
    cuMemcpyHtoD(dev_a, pinned, BUFFER_BYTES);
    cuMemcpyDtoH(pageable, dev_a, BUFFER_BYTES);
    cuMemcpyHtoDAsync(dev_a, pageable, 64 * KB, nonblocking2);
    cuMemcpyDtoHAsync(pinned, dev_a, BUFFER_BYTES, nonblocking2);
    cuMemsetD8((CUdeviceptr)(uintptr_t)pinned, 0, 4 * KB);
    cuMemsetD8(dev_a, 0, 4 * KB);
    cuEventRecord(event, blocking);
    cuEventRecord(event2, nonblocking);
    settle();
}

static CUresult set_up(void)
{
    CUresult rc = cuInit(0);

    if (rc != CUDA_SUCCESS)
        return check("cuInit", rc);
    TRY(cuDeviceGet(&device, 0));
    rc = TRY(cuDevicePrimaryCtxRetain(&primary, device));
    if (rc != CUDA_SUCCESS || (rc = TRY(cuCtxSetCurrent(primary))) != CUDA_SUCCESS)
        return rc;
    spin_kernel = load_spin();
    TRY(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    TRY(cuStreamCreate(&nonblocking, CU_STREAM_NON_BLOCKING));
    TRY(cuStreamCreate(&nonblocking2, CU_STREAM_NON_BLOCKING));
    TRY(cuMemAlloc(&dev_a, BUFFER_BYTES));
    TRY(cuMemAlloc(&dev_b, BUFFER_BYTES));
    TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    TRY(cuEventCreate(&event2, CU_EVENT_DISABLE_TIMING));
    rc = TRY(cuMemAllocHost((void **)&pinned, BUFFER_BYTES));
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = TRY(cuMemAllocHost((void **)&pinned2, BUFFER_BYTES));
    pageable = malloc(BUFFER_BYTES);
    if (rc != CUDA_SUCCESS || pageable == NULL)
        return rc;
    memset(pageable, 0, BUFFER_BYTES);
    warm_up();
    return CUDA_SUCCESS;
}

static unsigned char *map_pages(size_t size_bytes)
{
    void *p = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    memset(p, 0, size_bytes);
    return p;
}

static void unmap_pages(void *p, size_t size_bytes)
{
    if (p != NULL)
        munmap(p, size_bytes);
}

static CUdeviceptr uva(const void *host)
{
    return (CUdeviceptr)(uintptr_t)host;
}

/* "old", "NEW", or how many bytes of either. */
static void say_bytes(const unsigned char *bytes, size_t size_bytes, unsigned char old_value)
{
    size_t old_count = 0;

    for (size_t i = 0; i < size_bytes; i++)
        old_count += bytes[i] == old_value;
    if (old_count == size_bytes)
        say(" old");
    else if (old_count == 0)
        say(" NEW");
    else
        say(" MIXED(%zu of %zu old)", old_count, size_bytes);
}

struct thread_call {
    CUresult (*call)(void *arg);
    void *arg;
    bool with_context;
    CUresult result;
};

static void *run_thread_call(void *p)
{
    struct thread_call *tc = p;

    if (tc->with_context)
        cuCtxSetCurrent(primary);
    tc->result = tc->call(tc->arg);
    return NULL;
}

static CUresult on_other_thread(CUresult (*call)(void *), void *arg, bool with_context)
{
    struct thread_call tc = {call, arg, with_context, CUDA_ERROR_UNKNOWN};
    pthread_t thread;

    if (pthread_create(&thread, NULL, run_thread_call, &tc) == 0)
        pthread_join(thread, NULL);
    return tc.result;
}

/* ---- Q1 to Q4: what the legacy stream orders, and what events and queries see of it ---- */

static void event_after_work(const char *label, CUstream busy, CUstream recorded)
{
    for (enum work work = KERNEL; work < WORKS; work++) {
        occupy(work, busy, BUSY_MS);
        TRY(cuEventRecord(event, recorded));
        CUresult at_once = cuEventQuery(event);
        uint64_t start = now_ns();
        TRY(cuEventSynchronize(event));
        double waited = ms_since(start);
        settle();
        say(" %s %s %s (synchronize %.1f);", label, work_names[work], readiness(at_once), waited);
    }
}

static void q1(void)
{
    event_after_work("L busy, event on idle B:", LEGACY, blocking);
}

static void q2(void)
{
    event_after_work("B busy:", blocking, LEGACY);
    event_after_work("N busy:", nonblocking, LEGACY);
}

static void stream_while_busy(const char *label, CUstream busy, CUstream asked)
{
    for (enum work work = KERNEL; work < WORKS; work++) {
        occupy(work, busy, BUSY_MS);
        CUresult at_once = cuStreamQuery(asked);
        double waited = MS(cuStreamSynchronize(asked));
        settle();
        say(" %s %s query %s, synchronize %.3f;", label, work_names[work], readiness(at_once),
            waited);
    }
}

static void q3(void)
{
    stream_while_busy("B busy:", blocking, LEGACY);
    stream_while_busy("N busy:", nonblocking, LEGACY);
}

static void q4(void)
{
    stream_while_busy("ask B:", LEGACY, blocking);
    stream_while_busy("ask N:", LEGACY, nonblocking);
}

/* ---- Q5, Q6: synchronous calls beside a busy stream ---- */

static void sync_copies(enum work work, CUstream busy, const char *label)
{
    static const size_t sizes[] = {16, 4 * KB, 64 * KB, MB};

    for (int is_pinned = 0; is_pinned < 2; is_pinned++) {
        say(" %s %s %s", label, work_names[work], is_pinned ? "pinned" : "pageable");
        for (size_t i = 0; i < COUNT(sizes); i++) {
            occupy(work, busy, BUSY_MS);
            say(" %.3f", MS(cuMemcpyHtoD(dev_a, is_pinned ? pinned : pageable, sizes[i])));
            settle();
        }
        say(";");
    }
}

static void q5(void)
{
    for (enum work work = KERNEL; work < WORKS; work++) {
        sync_copies(work, blocking, "B busy:");
        sync_copies(work, nonblocking, "N busy:");
    }
}

static void sync_others(CUstream busy, const char *label)
{
    for (enum work work = KERNEL; work < WORKS; work++) {
        say(" %s %s", label, work_names[work]);
        occupy(work, busy, BUSY_MS);
        say(" memset pinned %.3f", MS(cuMemsetD8(uva(pinned), 1, 4 * KB)));
        settle();
        occupy(work, busy, BUSY_MS);
        say(" memset device %.3f", MS(cuMemsetD8(dev_a, 1, 4 * KB)));
        settle();
        occupy(work, busy, BUSY_MS);
        say(" DtoH pinned %.3f", MS(cuMemcpyDtoH(pinned, dev_a, 4 * KB)));
        settle();
        occupy(work, busy, BUSY_MS);
        say(" DtoH pageable %.3f;", MS(cuMemcpyDtoH(pageable, dev_a, 4 * KB)));
        settle();
    }
}

static void q6(void)
{
    sync_others(blocking, "B busy:");
    sync_others(nonblocking, "N busy:");
}

/* ---- Q7: does a free that waits hold up other threads? ---- */

static void *fresh_block;

static CUresult beside_copy_pinned(void)
{
    return cuMemcpyHtoDAsync(dev_a, pinned, 4 * KB, nonblocking2);
}

static CUresult beside_copy_pageable(void)
{
    return cuMemcpyHtoDAsync(dev_a, pageable, 4 * KB, nonblocking2);
}

static CUresult beside_record(void)
{
    return cuEventRecord(event, nonblocking2);
}

static CUresult beside_event_query(void)
{
    return cuEventQuery(event);
}

static CUresult beside_stream_query(void)
{
    return cuStreamQuery(nonblocking2);
}

static CUresult beside_host_alloc(void)
{
    return cuMemHostAlloc(&fresh_block, 64 * KB, 0);
}

static CUresult beside_wait_event(void)
{
    return cuStreamWaitEvent(nonblocking2, event, 0);
}

static const struct beside {
    const char *name;
    CUresult (*call)(void);
} besides[] = {
    {"HtoDAsync pinned", beside_copy_pinned}, {"HtoDAsync pageable", beside_copy_pageable},
    {"EventRecord", beside_record},           {"EventQuery", beside_event_query},
    {"StreamQuery", beside_stream_query},     {"MemHostAlloc", beside_host_alloc},
    {"StreamWaitEvent", beside_wait_event},
};

struct release {
    CUresult (*call)(void *);
    void *block;
    atomic_bool over;
};

static void *run_release(void *p)
{
    struct release *release = p;

    cuCtxSetCurrent(primary);
    if (release->block != NULL)
        release->call(release->block);
    atomic_store(&release->over, true);
    return NULL;
}

static void call_beside(struct release *release, const struct beside *beside)
{
    pthread_t thread;

    atomic_store(&release->over, false);
    launch_spin(spin_kernel, nonblocking, 300);
    if (pthread_create(&thread, NULL, run_release, release) != 0)
        return;
    sleep_ms(50);
    bool waits = !atomic_load(&release->over);
    uint64_t start = now_ns();
    CUresult rc = beside->call();
    double took = ms_since(start);
    say(" %s %.3f %s", beside->name, took,
        !waits                         ? "(the free did not wait)"
        : !atomic_load(&release->over) ? "at once"
                                       : "BLOCKED");
    if (rc != CUDA_SUCCESS)
        say("=%d", (int)rc);
    pthread_join(thread, NULL);
    settle();
}

static void q7(void)
{
    say(" beside cuMemFreeHost:");
    for (size_t i = 0; i < COUNT(besides); i++) {
        struct release release = {.call = cuMemFreeHost};
        TRY(cuMemAllocHost(&release.block, 64 * KB));
        call_beside(&release, &besides[i]);
    }
    say("; beside cuMemHostUnregister:");
    for (size_t i = 0; i < COUNT(besides); i++) {
        struct release release = {.call = cuMemHostUnregister, .block = map_pages(64 * KB)};
        TRY(cuMemHostRegister(release.block, 64 * KB, 0));
        call_beside(&release, &besides[i]);
        unmap_pages(release.block, 64 * KB);
    }
}

/* ---- Q8: what calls cost ---- */

#define ROUNDS 5

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Nanoseconds per iteration, median of the rounds; `i` counts inside the statement. */
#define COST(name, iterations, statement)                                                          \
    do {                                                                                           \
        double ns_[ROUNDS];                                                                        \
        for (int round_ = 0; round_ < ROUNDS; round_++) {                                          \
            uint64_t start_ = now_ns();                                                            \
            for (unsigned i = 0; i < (iterations); i++) {                                          \
                statement;                                                                         \
            }                                                                                      \
            ns_[round_] = (double)(now_ns() - start_) / (iterations);                              \
            cuCtxSynchronize();                                                                    \
        }                                                                                          \
        qsort(ns_, ROUNDS, sizeof(ns_[0]), by_value);                                              \
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

static void q8(void)
{
    cost_of_streams();
    cost_of_events();
    cost_of_memory();
    cost_of_clocks();
}

/* ---- Q9: is every pointer of cuGetProcAddress also an exported symbol? ---- */

static const char *const api_names[] = {
    "cuMemcpy",
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
    "cuGraphUpload",
};

static const char *const api_suffixes[] = {"",      "_v2",      "_v3",      "_ptsz",
                                           "_ptds", "_v2_ptsz", "_v2_ptds", "_v3_ptsz"};

static bool is_exported(void *library, const char *name, const void *pointer)
{
    char symbol[128];

    for (size_t i = 0; i < COUNT(api_suffixes); i++) {
        snprintf(symbol, sizeof(symbol), "%s%s", name, api_suffixes[i]);
        if (dlsym(library, symbol) == pointer)
            return true;
    }
    return false;
}

static void q9(void)
{
    unsigned equal = 0, different = 0, absent = 0;
    void *library = dlopen("libcuda.so.1", RTLD_LAZY);

    if (library == NULL) {
        say(" no libcuda.so.1: %s", dlerror());
        return;
    }
    for (int flags = 0; flags <= 2; flags++) {
        for (size_t i = 0; i < COUNT(api_names); i++) {
            void *pointer = NULL;
            CUdriverProcAddressQueryResult found;
            CUresult rc =
                cuGetProcAddress(api_names[i], &pointer, 13000, (cuuint64_t)flags, &found);
            if (rc != CUDA_SUCCESS || pointer == NULL) {
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

/* ---- Q10, Q11: less usual asynchronous calls behind a busy stream ---- */

/* One call behind BUSY_MS of work on the non-blocking stream. */
#define BEHIND(label, call)                                                                        \
    do {                                                                                           \
        occupy(KERNEL, nonblocking, BUSY_MS);                                                      \
        double took_ms_ = MS(call);                                                                \
        say(" %s %.3f %s;", label, took_ms_, took_ms_ > BUSY_MS / 2 ? "blocks" : "at once");       \
    } while (0)

static void q10(void)
{
    BEHIND("DtoDAsync from pinned", cuMemcpyDtoDAsync(dev_a, uva(pinned), 4 * KB, nonblocking));
    settle();
    BEHIND("DtoDAsync to pinned", cuMemcpyDtoDAsync(uva(pinned), dev_a, 4 * KB, nonblocking));
    settle();
    BEHIND("MemcpyAsync pinned->pinned",
           cuMemcpyAsync(uva(pinned2), uva(pinned), 4 * KB, nonblocking));
    settle();

    BEHIND("MemcpyAsync pinned->pageable",
           cuMemcpyAsync(uva(pageable), uva(pinned), 4 * KB, nonblocking));
    settle();

    memset(pageable, 1, 4 * KB);
    BEHIND("MemcpyAsync pageable->pinned",
           cuMemcpyAsync(uva(pinned), uva(pageable), 4 * KB, nonblocking));
    memset(pageable, 2, 4 * KB);
    settle();
    say(" arrives");
    say_bytes(pinned, 4 * KB, 1);
    say(";");

    memset(pageable, 1, 4 * KB);
    BEHIND("MemcpyAsync pageable->pageable",
           cuMemcpyAsync(uva(pageable + MB), uva(pageable), 4 * KB, nonblocking));
    settle();
}

static void q11(void)
{
    CUDA_MEMCPY2D flat = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = pinned,
        .srcPitch = 128,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = dev_a,
        .dstPitch = 256,
        .WidthInBytes = 100,
        .Height = 16,
    };
    CUDA_MEMCPY3D deep = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = pinned,
        .srcPitch = 128,
        .srcHeight = 16,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = dev_a,
        .dstPitch = 256,
        .dstHeight = 16,
        .WidthInBytes = 100,
        .Height = 16,
        .Depth = 4,
    };

    BEHIND("2DAsync pinned", cuMemcpy2DAsync(&flat, nonblocking));
    settle();
    BEHIND("3DAsync pinned", cuMemcpy3DAsync(&deep, nonblocking));
    settle();
    flat.srcHost = pageable;
    deep.srcHost = pageable;
    BEHIND("2DAsync pageable", cuMemcpy2DAsync(&flat, nonblocking));
    settle();
    BEHIND("3DAsync pageable", cuMemcpy3DAsync(&deep, nonblocking));
    settle();

    memset(pinned, 1, 4 * KB);
    BEHIND("MemsetD8Async on pinned", cuMemsetD8Async(uva(pinned), 2, 4 * KB, nonblocking));
    say(" host sees %d at once,", pinned[0]);
    settle();
    say(" %d when done", pinned[0]);
}

/* ---- Q12: whom do the implicit waits wait for? ---- */

struct elsewhere {
    CUcontext context;
    CUfunction spin;
    CUstream stream;
};

/* A second context of the same device, left not current. */
static struct elsewhere open_elsewhere(void)
{
    struct elsewhere other = {NULL, NULL, NULL};
    CUcontext popped;

    if (TRY(cuCtxCreate(&other.context, NULL, 0, device)) != CUDA_SUCCESS)
        return other;
    other.spin = load_spin();
    TRY(cuStreamCreate(&other.stream, CU_STREAM_NON_BLOCKING));
    launch_spin(other.spin, other.stream, 1);
    TRY(cuCtxSynchronize());
    TRY(cuCtxPopCurrent(&popped));
    return other;
}

static void occupy_elsewhere(struct elsewhere *other, enum work work)
{
    CUcontext popped;

    if (TRY(cuCtxPushCurrent(other->context)) != CUDA_SUCCESS)
        return;
    if (work == KERNEL)
        launch_spin(other->spin, other->stream, BUSY_MS);
    else
        occupy(HOST, other->stream, BUSY_MS);
    TRY(cuCtxPopCurrent(&popped));
}

static void settle_elsewhere(struct elsewhere *other)
{
    CUcontext popped;

    if (TRY(cuCtxPushCurrent(other->context)) != CUDA_SUCCESS)
        return;
    TRY(cuCtxSynchronize());
    TRY(cuCtxPopCurrent(&popped));
}

enum { FREE_PLAIN, FREE_PORTABLE, UNREGISTER, RELEASES };
static const char *const release_names[RELEASES] = {"FreeHost", "FreeHost portable",
                                                    "HostUnregister"};

/* One release, beside work in another context when there is one, else on the non-blocking stream.
 */
static void release_beside(int how, enum work work, struct elsewhere *other)
{
    void *block = how == UNREGISTER ? map_pages(64 * KB) : NULL;
    CUresult rc = how == UNREGISTER
                      ? TRY(cuMemHostRegister(block, 64 * KB, 0))
                      : TRY(cuMemHostAlloc(&block, 64 * KB,
                                           how == FREE_PORTABLE ? CU_MEMHOSTALLOC_PORTABLE : 0));

    if (rc != CUDA_SUCCESS)
        return;
    if (other != NULL)
        occupy_elsewhere(other, work);
    else
        occupy(work, nonblocking, BUSY_MS);
    say(" %s %.3f", release_names[how],
        how == UNREGISTER ? MS(cuMemHostUnregister(block)) : MS(cuMemFreeHost(block)));
    settle();
    if (other != NULL)
        settle_elsewhere(other);
    if (how == UNREGISTER)
        unmap_pages(block, 64 * KB);
}

static void q12(void)
{
    struct elsewhere other = open_elsewhere();

    for (enum work work = KERNEL; work < WORKS; work++) {
        say(" N busy, %s:", work_names[work]);
        for (int how = 0; how < RELEASES; how++)
            release_beside(how, work, NULL);
        say(";");
        if (other.context == NULL)
            continue;
        say(" other context busy, %s:", work_names[work]);
        for (int how = 0; how < RELEASES; how++)
            release_beside(how, work, &other);
        say(";");
    }
    if (other.context != NULL)
        TRY(cuCtxDestroy(other.context));
}

/* ---- Q13: contexts destroyed with work pending ---- */

static atomic_bool host_function_ran;

static void CUDA_CB mark_ran(void *unused)
{
    (void)unused;
    atomic_store(&host_function_ran, true);
}

/* 200 ms of work in the current context, then a copy into `landing`, then a host function. */
static void queue_pending(CUfunction spin, CUstream stream, unsigned char *landing)
{
    CUdeviceptr source = 0;

    atomic_store(&host_function_ran, false);
    landing[0] = 0;
    TRY(cuMemAlloc(&source, 4 * KB));
    TRY(cuMemsetD8(source, 0xab, 4 * KB));
    TRY(cuCtxSynchronize());
    launch_spin(spin, stream, 200);
    TRY(cuMemcpyDtoHAsync(landing, source, 4 * KB, stream));
    TRY(cuLaunchHostFunc(stream, mark_ran, NULL));
}

static void say_pending(const char *name, double took_ms, volatile unsigned char *landing)
{
    bool landed = landing[0] == 0xab, ran = atomic_load(&host_function_ran);

    sleep_ms(300);
    say(" %s took %.1f, on return copy %s and host function %s, 300 ms later copy %s and host "
        "function %s;",
        name, took_ms, landed ? "landed" : "NOT", ran ? "ran" : "NOT",
        landing[0] == 0xab ? "landed" : "NOT", atomic_load(&host_function_ran) ? "ran" : "NOT");
}

/* The landing page is registered memory: it stays mapped whatever becomes of the context. */
static void q13(void)
{
    unsigned char *landing = map_pages(4 * KB), *landing2 = map_pages(4 * KB);
    struct elsewhere other = open_elsewhere();
    CUcontext popped;

    if (landing == NULL || landing2 == NULL)
        return;
    if (other.context != NULL && TRY(cuCtxPushCurrent(other.context)) == CUDA_SUCCESS) {
        TRY(cuMemHostRegister(landing, 4 * KB, CU_MEMHOSTREGISTER_PORTABLE));
        queue_pending(other.spin, other.stream, landing);
        TRY(cuCtxPopCurrent(&popped));
        double took = MS(cuCtxDestroy(other.context));
        say_pending("cuCtxDestroy", took, landing);
    }

    TRY(cuMemHostRegister(landing2, 4 * KB, 0));
    queue_pending(spin_kernel, nonblocking, landing2);
    double took = MS(cuDevicePrimaryCtxReset(device));
    say_pending("cuDevicePrimaryCtxReset", took, landing2);
    say(" cuCtxSynchronize afterwards %d", (int)cuCtxSynchronize());
}

/* ---- Q14: batch copies from pageable memory ---- */

static void batch_copy(size_t size_bytes, CUmemcpySrcAccessOrder order)
{
    CUmemcpyAttributes attributes;
    CUdeviceptr destination = dev_a, source = uva(pageable);
    size_t first = 0;

    memset(&attributes, 0, sizeof(attributes));
    attributes.srcAccessOrder = order;
    memset(pageable, 1, size_bytes);
    TRY(cuMemsetD8(dev_a, 3, size_bytes));
    settle();
    occupy(KERNEL, nonblocking, BUSY_MS);
    double took = MS(cuMemcpyBatchAsync(&destination, &source, &size_bytes, 1, &attributes, &first,
                                        1, nonblocking));
    memset(pageable, 2, size_bytes);
    settle();
    TRY(cuMemcpyDtoH(pinned, dev_a, size_bytes));
    say(" %zuK %.3f", size_bytes / KB, took);
    if (pinned[0] == 3)
        say(" NEVER WRITTEN");
    else
        say_bytes(pinned, size_bytes, 1);
    say(",");
}

static void q14(void)
{
    static const size_t sizes[] = {4 * KB, 16 * KB, 64 * KB, 128 * KB, 256 * KB, 512 * KB, MB};

    say(" DURING_API_CALL:");
    for (size_t i = 0; i < COUNT(sizes); i++)
        batch_copy(sizes[i], CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL);
    say(" ANY:");
    for (size_t i = 0; i < COUNT(sizes); i++)
        batch_copy(sizes[i], CU_MEMCPY_SRC_ACCESS_ORDER_ANY);
}

/* ---- Q15, Q16: streams destroyed early, events recorded elsewhere ---- */

static void q15(void)
{
    CUstream stream = NULL;

    memset(pinned, 0, 4 * KB);
    TRY(cuMemsetD8(dev_a, 0xcd, 4 * KB));
    settle();
    TRY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    occupy(KERNEL, stream, BUSY_MS);
    TRY(cuEventRecord(event, stream));
    TRY(cuMemcpyDtoHAsync(pinned, dev_a, 4 * KB, stream));
    TRY(cuEventRecord(event2, stream));
    say(" destroy %.3f,", MS(cuStreamDestroy(stream)));
    say(" event before the copy %s,", readiness(cuEventQuery(event)));
    say(" event after it %s,", readiness(cuEventQuery(event2)));
    say(" synchronize before %.1f,", MS(cuEventSynchronize(event)));
    say(" after %.1f,", MS(cuEventSynchronize(event2)));
    say(" data %s,", pinned[0] == 0xcd && pinned[4 * KB - 1] == 0xcd ? "landed" : "MISSING");
    say(" later query %s", readiness(cuEventQuery(event2)));
}

static CUresult record_on_blocking(void *unused)
{
    (void)unused;
    return cuEventRecord(event, blocking);
}

static CUresult record_often(void *unused)
{
    CUresult first_error = CUDA_SUCCESS;

    (void)unused;
    for (int i = 0; i < 10000; i++) {
        CUresult rc = cuEventRecord(event2, nonblocking);
        if (first_error == CUDA_SUCCESS)
            first_error = rc;
    }
    return first_error;
}

static void q16(void)
{
    struct thread_call often = {record_often, NULL, true, CUDA_ERROR_UNKNOWN};
    pthread_t thread;
    CUresult copies = CUDA_SUCCESS;

    occupy(KERNEL, blocking, BUSY_MS);
    CUresult rc = on_other_thread(record_on_blocking, NULL, true);
    say(" context current %d, then query %s,", (int)rc, readiness(cuEventQuery(event)));
    say(" no context current %d,", (int)on_other_thread(record_on_blocking, NULL, false));
    settle();
    if (pthread_create(&thread, NULL, run_thread_call, &often) != 0)
        return;
    for (int i = 0; i < 10000 && copies == CUDA_SUCCESS; i++)
        copies = cuMemcpyHtoDAsync(dev_a, pinned, 64, nonblocking);
    pthread_join(thread, NULL);
    settle();
    say(" 10,000 records beside 10,000 copies on that stream: records %d, copies %d, event %s",
        (int)often.result, (int)copies, readiness(cuEventQuery(event2)));
}

/* ---- Q18, Q19: registrations and frees ---- */

static void register_codes(unsigned char *pages)
{
    say(" register %d", (int)cuMemHostRegister(pages, 8 * KB, 0));
    say(", same again %d", (int)cuMemHostRegister(pages, 8 * KB, 0));
    say(", overlapping %d", (int)cuMemHostRegister(pages + 4 * KB, 8 * KB, 0));
    say(", inside %d", (int)cuMemHostRegister(pages + 4 * KB, 4 * KB, 0));
    say(", adjacent %d", (int)cuMemHostRegister(pages + 8 * KB, 4 * KB, 0));
    say(", unregister by an inner address %d", (int)cuMemHostUnregister(pages + 4 * KB));
    say(", unregister %d", (int)cuMemHostUnregister(pages));
    say(", twice %d", (int)cuMemHostUnregister(pages));
    say(", the adjacent %d", (int)cuMemHostUnregister(pages + 8 * KB));

    unsigned char *shared = pages + 16 * KB;
    say("; 64 B at 0 of a page %d", (int)cuMemHostRegister(shared, 64, 0));
    say(", 64 B at 1024 of it %d", (int)cuMemHostRegister(shared + 1024, 64, 0));
    say(", unregister first %d", (int)cuMemHostUnregister(shared));
    say(", second %d", (int)cuMemHostUnregister(shared + 1024));
}

static void free_codes(unsigned char *pages)
{
    void *block = NULL;

    TRY(cuMemHostRegister(pages, 4 * KB, 0));
    say("; FreeHost of registered %d", (int)cuMemFreeHost(pages));
    say(", then unregister %d", (int)cuMemHostUnregister(pages));
    TRY(cuMemAllocHost(&block, 8 * KB));
    say("; HostRegister of pinned %d", (int)cuMemHostRegister(block, 4 * KB, 0));
    say(", HostUnregister of pinned %d", (int)cuMemHostUnregister(block));
    say(", FreeHost of an inner address %d", (int)cuMemFreeHost((char *)block + 4 * KB));
    say(", FreeHost %d", (int)cuMemFreeHost(block));
    say(", twice %d", (int)cuMemFreeHost(block));
    say(", of pageable %d", (int)cuMemFreeHost(pageable));
    say(", of NULL %d", (int)cuMemFreeHost(NULL));
    say("; Unregister of pageable %d", (int)cuMemHostUnregister(pageable));
    say(", of NULL %d", (int)cuMemHostUnregister(NULL));
}

static void q18(void)
{
    unsigned char *pages = map_pages(32 * KB);

    if (pages == NULL)
        return;
    register_codes(pages);
    free_codes(pages);
    unmap_pages(pages, 32 * KB);
}

/* The executable's own free and munmap stand before libc's for whoever calls through the PLT. */
static atomic_bool counting;
static atomic_uint frees_seen, munmaps_seen;
static _Atomic(uintptr_t) munmap_watch, munmap_hits;

extern void __libc_free(void *block);

__attribute__((visibility("default"))) void free(void *block)
{
    if (atomic_load_explicit(&counting, memory_order_relaxed) && block != NULL)
        atomic_fetch_add_explicit(&frees_seen, 1, memory_order_relaxed);
    __libc_free(block);
}

__attribute__((visibility("default"))) int munmap(void *address, size_t size_bytes)
{
    if (atomic_load_explicit(&counting, memory_order_relaxed)) {
        uintptr_t watched = atomic_load(&munmap_watch);
        atomic_fetch_add_explicit(&munmaps_seen, 1, memory_order_relaxed);
        if (watched - (uintptr_t)address < size_bytes)
            atomic_fetch_add(&munmap_hits, 1);
    }
    return (int)syscall(SYS_munmap, address, size_bytes);
}

static void count_from_here(void *watched)
{
    atomic_store(&frees_seen, 0);
    atomic_store(&munmaps_seen, 0);
    atomic_store(&munmap_hits, 0);
    atomic_store(&munmap_watch, (uintptr_t)watched);
    atomic_store(&counting, true);
}

static void say_counts(const char *label, CUresult rc)
{
    atomic_store(&counting, false);
    say(" %s free %u munmap %u (over the block %u)", label, atomic_load(&frees_seen),
        atomic_load(&munmaps_seen), (unsigned)atomic_load(&munmap_hits));
    if (rc != CUDA_SUCCESS)
        say(" result %d", (int)rc);
    say(";");
}

static bool is_interposed(const char *name, const void *own)
{
    return dlsym(RTLD_DEFAULT, name) == own;
}

static void q19(void)
{
    static const size_t sizes[] = {4 * KB, 4 * MB};

    say(" interposers in force: %s;", is_interposed("free", (void *)(uintptr_t)free) &&
                                              is_interposed("munmap", (void *)(uintptr_t)munmap)
                                          ? "yes"
                                          : "NO");
    for (size_t i = 0; i < COUNT(sizes); i++) {
        void *block = NULL, *mapped = map_pages(sizes[i]);

        TRY(cuMemAllocHost(&block, sizes[i]));
        count_from_here(block);
        CUresult rc = cuMemFreeHost(block);
        say_counts(i == 0 ? "FreeHost 4K" : "FreeHost 4M", rc);
        if (mapped == NULL)
            continue;
        count_from_here(mapped);
        rc = cuMemHostRegister(mapped, sizes[i], 0);
        say_counts(i == 0 ? "Register 4K" : "Register 4M", rc);
        count_from_here(mapped);
        rc = cuMemHostUnregister(mapped);
        say_counts(i == 0 ? "Unregister 4K" : "Unregister 4M", rc);
        unmap_pages(mapped, sizes[i]);
    }
}

/* ---- Q20, Q21: our own calls while somebody captures ---- */

static CUevent scratch_event;
static CUstream scratch_stream;

static CUresult while_record_nonblocking(void *unused)
{
    (void)unused;
    return cuEventRecord(event, nonblocking2);
}

static CUresult while_record_blocking(void *unused)
{
    (void)unused;
    return cuEventRecord(event, blocking);
}

static CUresult while_event_create(void *unused)
{
    (void)unused;
    return cuEventCreate(&scratch_event, CU_EVENT_DISABLE_TIMING);
}

static CUresult while_event_destroy(void *unused)
{
    CUevent doomed = scratch_event;

    (void)unused;
    scratch_event = NULL;
    return cuEventDestroy(doomed);
}

static CUresult while_event_query(void *unused)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    (void)unused;
    cuThreadExchangeStreamCaptureMode(&mode);
    CUresult rc = cuEventQuery(event);
    cuThreadExchangeStreamCaptureMode(&mode);
    return rc;
}

static CUresult while_stream_query(void *unused)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    (void)unused;
    cuThreadExchangeStreamCaptureMode(&mode);
    CUresult rc = cuStreamQuery(nonblocking2);
    cuThreadExchangeStreamCaptureMode(&mode);
    return rc;
}

static CUresult while_stream_create(void *unused)
{
    (void)unused;
    return cuStreamCreate(&scratch_stream, CU_STREAM_DEFAULT);
}

static CUresult while_wait_event(void *unused)
{
    (void)unused;
    return cuStreamWaitEvent(nonblocking2, event, 0);
}

/* Shows what the visit itself does, the switch to another thread included. */
static CUresult while_nothing(void *unused)
{
    (void)unused;
    return CUDA_SUCCESS;
}

/* The event that EventDestroy destroys is the one that EventCreate made just before. */
static const struct guest {
    const char *name;
    CUresult (*call)(void *);
} guests[] = {
    {"nothing", while_nothing},
    {"EventRecord N", while_record_nonblocking},
    {"EventRecord B", while_record_blocking},
    {"EventCreate", while_event_create},
    {"EventDestroy", while_event_destroy},
    {"EventQuery relaxed", while_event_query},
    {"StreamQuery relaxed", while_stream_query},
    {"StreamCreate blocking", while_stream_create},
    {"StreamWaitEvent N", while_wait_event},
};

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

    if (graph != NULL)
        cuGraphDestroy(graph);
    return rc;
}

static void visit_capture(CUstream stream, const struct guest *guest, bool other_thread)
{
    if (begin_capture(stream) != CUDA_SUCCESS)
        return;
    CUresult rc = other_thread ? on_other_thread(guest->call, NULL, true) : guest->call(NULL);
    CUresult end = end_capture(stream);
    say(" %s %d/%d,", guest->name, (int)rc, (int)end);
    if (scratch_stream != NULL) {
        cuStreamDestroy(scratch_stream);
        scratch_stream = NULL;
    }
}

static void q20(void)
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

static void q21(void)
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

/* ---- Q23, Q24: what a started host function and an early event prove ---- */

static atomic_uint callbacks, stale_callbacks;

static void CUDA_CB look_at_pinned(void *expected)
{
    unsigned char value = (unsigned char)(uintptr_t)expected;

    atomic_fetch_add(&callbacks, 1);
    if (pinned[0] != value || pinned[MB - 1] != value)
        atomic_fetch_add(&stale_callbacks, 1);
}

static void q23(void)
{
    atomic_store(&callbacks, 0);
    atomic_store(&stale_callbacks, 0);
    for (unsigned i = 1; i <= 100; i++) {
        TRY(cuMemsetD8Async(dev_a, (unsigned char)i, MB, nonblocking));
        TRY(cuMemcpyDtoHAsync(pinned, dev_a, MB, nonblocking));
        TRY(cuLaunchHostFunc(nonblocking, look_at_pinned, (void *)(uintptr_t)i));
    }
    settle();
    say(" %u callbacks, %u saw stale bytes", atomic_load(&callbacks),
        atomic_load(&stale_callbacks));
}

/* 50 ms and a copy on L, an event on `stream`, then BUSY_MS more on L: when is the event done? */
static void early_event(const char *label, enum work work, CUstream stream)
{
    memset(pinned, 0, 4 * KB);
    uint64_t start = now_ns();
    occupy(work, LEGACY, 50);
    TRY(cuMemcpyDtoHAsync(pinned, dev_a, 4 * KB, LEGACY));
    TRY(cuEventRecord(event, stream));
    CUresult at_once = cuEventQuery(event);
    occupy(work, LEGACY, BUSY_MS);
    CUresult rc;
    while ((rc = cuEventQuery(event)) == CUDA_ERROR_NOT_READY && ms_since(start) < 1000)
        sleep_ms(1);
    double done = ms_since(start);
    bool landed = pinned[0] == 0x5a && pinned[4 * KB - 1] == 0x5a;
    settle();
    say(" %s %s: at once %s, %s after %.1f of 150 (%s), copy %s;", label, work_names[work],
        readiness(at_once), readiness(rc), done, done < 100 ? "early" : "with the later kernel",
        landed ? "landed" : "NOT landed");
}

static void q24(void)
{
    TRY(cuMemsetD8(dev_a, 0x5a, 4 * KB));
    settle();
    for (enum work work = KERNEL; work < WORKS; work++) {
        CUstream fresh = NULL;
        TRY(cuStreamCreate(&fresh, CU_STREAM_DEFAULT));
        early_event("fresh B", work, fresh);
        early_event("L itself", work, LEGACY);
        TRY(cuStreamDestroy(fresh));
    }
}

/* ---- the list, and the processes that work through it ---- */

static const struct question {
    int number;
    bool ends_context; /* the child cannot go on after it */
    void (*ask)(void);
    const char *text;
} questions[] = {
    {1, false, q1, "event on an idle blocking stream right after work on the legacy stream"},
    {2, false, q2, "event on the legacy stream while another stream is busy"},
    {3, false, q3, "query and synchronize of the legacy stream while another stream is busy"},
    {4, false, q4, "query and synchronize of an idle stream while the legacy stream is busy"},
    {5, false, q5, "sync cuMemcpyHtoD of 16 B, 4 KB, 64 KB, 1 MB beside a busy stream"},
    {6, false, q6, "sync cuMemsetD8 and cuMemcpyDtoH of 4 KB beside a busy stream"},
    {7, false, q7, "do calls of another thread block while a free waits"},
    {8, false, q8, "ns per call"},
    {9, false, q9, "are the pointers of cuGetProcAddress exported symbols"},
    {10, false, q10, "host pointers in cuMemcpyDtoDAsync and cuMemcpyAsync behind 100 ms"},
    {11, false, q11, "2D, 3D copies and memset of pinned memory behind 100 ms"},
    {12, false, q12, "whom cuMemFreeHost and cuMemHostUnregister wait for (100 ms)"},
    {13, true, q13, "contexts destroyed with 200 ms pending"},
    {14, false, q14, "batch copy H2D pageable behind 100 ms, source overwritten on return"},
    {15, false, q15, "cuStreamDestroy with a copy pending behind 100 ms"},
    {16, false, q16, "cuEventRecord by another thread"},
    {18, false, q18, "error codes of registrations and frees"},
    {19, false, q19, "free and munmap called through the PLT by the driver"},
    {20, false, q20, "call/end of our own calls during a capture in Global mode"},
    {21, false, q21, "identity of streams while one captures"},
    {23, false, q23, "has the D2H before it landed when a host function starts"},
    {24, false, q24, "does an event on a blocking stream cover the legacy copy, and no more"},
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

static void print_answer(const struct question *q, const char *ending)
{
    printf("Q%d %s:%s%s\n", q->number, q->text, answer->used ? answer->text : " -", ending);
    fflush(stdout);
    answer->used = 0;
    answer->text[0] = '\0';
    answer->number = 0;
}

/* Leaves off when the context is no longer of use; the parent starts another child. */
static void answer_from(size_t first, int argc, char **argv)
{
    alarm(QUESTION_LIMIT_S);
    answer->number = questions[first].number;
    if (set_up() != CUDA_SUCCESS)
        _exit(1);
    for (size_t i = first; i < COUNT(questions) && seconds_left() > 0; i++) {
        const struct question *q = &questions[i];
        if (!is_wanted(q, argc, argv))
            continue;
        unsigned left = seconds_left();
        alarm(left < QUESTION_LIMIT_S ? left : QUESTION_LIMIT_S);
        answer->number = q->number;
        answer->next = i + 1;
        q->ask();
        print_answer(q, "");
        if (q->ends_context || cuCtxSynchronize() != CUDA_SUCCESS)
            _exit(0);
    }
    _exit(0);
}

/* Prints for a child that died, or could not set up, the question it was at. */
static void account_for(int status)
{
    char ending[64];

    if (answer->number == 0)
        return;
    if (WIFSIGNALED(status))
        snprintf(ending, sizeof(ending), " DIED of signal %d%s", WTERMSIG(status),
                 WTERMSIG(status) == SIGALRM ? " (too long)" : "");
    else
        snprintf(ending, sizeof(ending), " NOT ASKED, exit %d", WEXITSTATUS(status));
    for (size_t i = 0; i < COUNT(questions); i++)
        if (questions[i].number == answer->number)
            print_answer(&questions[i], ending);
}

/* Asks from question `first` on in a child of its own; false when asking on is pointless. */
static bool ask_in_child(size_t first, int argc, char **argv)
{
    int status = 0;

    answer->next = first + 1;
    pid_t child = fork();
    if (child < 0)
        return false;
    if (child == 0)
        answer_from(first, argc, argv);
    if (waitpid(child, &status, 0) != child)
        return false;
    account_for(status);
    return !WIFEXITED(status) || WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
    size_t next = 0;
    void *shared =
        mmap(NULL, sizeof(*answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED) {
        perror("probe: mmap");
        return 1;
    }
    answer = shared;
    program_start_ns = now_ns();
    while (next < COUNT(questions)) {
        if (!is_wanted(&questions[next], argc, argv)) {
            next++;
            continue;
        }
        if (seconds_left() == 0) {
            printf("out of time before Q%d\n", questions[next].number);
            break;
        }
        if (!ask_in_child(next, argc, argv))
            break;
        next = answer->next;
    }
    printf("probe done\n");
    return 0;
}

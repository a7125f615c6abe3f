/* probe_cupti: asks libcupti and the CUDA driver how callbacks really behave.
 *
 *     gcc -std=gnu11 -O2 -pthread -I/usr/local/cuda/include tests/gpu/probe_cupti.c \
 *         -o probe_cupti -ldl -lcuda
 *     ./probe_cupti            every question, under 60 s
 *     ./probe_cupti 2 5        these only
 *
 * PROBE_CUPTI names the libcupti to ask, PROBE_CUPTI_2 a second one of another version (Q9); else
 * libcupti.so.13 is looked for in the usual places. Each question is answered in a child process
 * that does its own cuInit; one that dies or hangs costs its own line. Driver results are numbers,
 * CUPTI results "CUPTI n". Times of calls are the best of several rounds.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dirent.h>
#include <dlfcn.h>
#include <glob.h>
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
#define LEGACY ((CUstream)0)
#define CHILD_LIMIT_S 20

static void CUDA_CB do_nothing(void *unused);

/* ---- answers ---- */

static bool *midway; /* shared: the child is in a line that is begun and not ended */

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
    *midway = true;
}

static void end_line(void)
{
    putchar('\n');
    fflush(stdout);
    *midway = false;
}

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

static void sleep_ms(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000L};

    nanosleep(&t, NULL);
}

static double ms_since(uint64_t start_ns)
{
    return (double)(now_ns() - start_ns) / 1e6;
}

static unsigned thread_count(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");

    for (struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;)
        count += entry->d_name[0] != '.';
    if (tasks != NULL)
        closedir(tasks);
    return count;
}

static unsigned long resident_kb(void)
{
    unsigned long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file != NULL) {
        if (fscanf(file, "%lu %lu", &total, &resident) != 2)
            resident = 0;
        fclose(file);
    }
    return resident * (unsigned long)sysconf(_SC_PAGESIZE) / KB;
}

/* ---- libcupti ---- */

struct cupti {
    void *library;
    __typeof__(&cuptiSubscribe) subscribe;
    __typeof__(&cuptiSubscribe_v2) subscribe_v2;
    __typeof__(&cuptiUnsubscribe) unsubscribe;
    __typeof__(&cuptiEnableCallback) enable;
    __typeof__(&cuptiEnableDomain) enable_domain;
    __typeof__(&cuptiFinalize) finalize;
    __typeof__(&cuptiGetVersion) version;
};

static struct cupti cupti;

static const char *cupti_path(const char *variable)
{
    static const char *const places[] = {
        "/usr/local/cuda/lib64/libcupti.so.13",
        "/usr/local/cuda/lib/libcupti.so.13",
        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
        "/opt/torch/.venv/lib/python3*/site-packages/nvidia/cu13/lib/libcupti.so.13",
        "/opt/torch/.venv/lib/python3*/site-packages/nvidia/cuda_cupti/lib/libcupti.so.13",
        "/usr/l*/python3*/*-packages/nvidia/cu*/lib/libcupti.so.13",
    };
    static glob_t found;

    if (getenv(variable) != NULL)
        return getenv(variable);
    for (size_t i = 0; i < COUNT(places); i++)
        if (glob(places[i], 0, NULL, &found) == 0)
            return found.gl_pathv[0];
    return "libcupti.so.13";
}

static bool load(struct cupti *c, const char *path)
{
    c->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (c->library == NULL) {
        say(" {%s}", dlerror());
        return false;
    }
    *(void **)&c->subscribe = dlsym(c->library, "cuptiSubscribe");
    *(void **)&c->subscribe_v2 = dlsym(c->library, "cuptiSubscribe_v2");
    *(void **)&c->unsubscribe = dlsym(c->library, "cuptiUnsubscribe");
    *(void **)&c->enable = dlsym(c->library, "cuptiEnableCallback");
    *(void **)&c->enable_domain = dlsym(c->library, "cuptiEnableDomain");
    *(void **)&c->finalize = dlsym(c->library, "cuptiFinalize");
    *(void **)&c->version = dlsym(c->library, "cuptiGetVersion");
    return c->subscribe != NULL && c->unsubscribe != NULL && c->enable != NULL;
}

/* What is heard: counted, and written down where asked for. */
static struct {
    _Atomic unsigned calls[CUPTI_CB_DOMAIN_SIZE];
    bool tell;          /* print each entry */
    bool tell_exit;     /* and exit */
    unsigned linger_ms; /* in each callback */
    bool call_driver;   /* in each callback: cuStreamQuery, which is enabled too */
    bool unsubscribe;   /* in the first callback */
    int unsubscribed;   /* what that answered */
    _Atomic int inside;
    _Atomic bool elsewhere; /* a callback ran on a thread other than `caller` */
    long caller;
    CUpti_SubscriberHandle subscriber;
} ear;

static void tell(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const CUpti_CallbackData *data)
{
    bool driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;

    if (data->callbackSite == CUPTI_API_ENTER)
        say(" %s%s[%u]#%u", driver ? "" : "R:", data->functionName, cbid, data->correlationId);
    else if (ear.tell_exit)
        say(" /%s#%u=%d", driver ? "" : "R:", data->correlationId,
            *(const int *)data->functionReturnValue);
}

static void hear(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *about)
{
    (void)user;
    atomic_fetch_add(&ear.calls[domain], 1);
    if (ear.caller != 0 && ear.caller != syscall(SYS_gettid))
        atomic_store(&ear.elsewhere, true);
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        if (ear.tell)
            say(" resource[%u]", cbid);
        return;
    }
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API && domain != CUPTI_CB_DOMAIN_RUNTIME_API)
        return;
    atomic_fetch_add(&ear.inside, 1);
    if (ear.tell)
        tell(domain, cbid, about);
    if (ear.linger_ms != 0)
        sleep_ms(ear.linger_ms);
    if (ear.unsubscribe) {
        ear.unsubscribe = false;
        ear.unsubscribed = cupti.unsubscribe(ear.subscriber);
    }
    if (ear.call_driver) {
        ear.call_driver = false;
        cuStreamQuery(LEGACY);
        ear.call_driver = true;
    }
    atomic_fetch_sub(&ear.inside, 1);
}

static unsigned heard(void)
{
    unsigned sum = 0;

    for (size_t i = 0; i < COUNT(ear.calls); i++)
        sum += atomic_exchange(&ear.calls[i], 0);
    return sum;
}

/* ---- the world that questions find ---- */

static CUcontext primary;
static CUfunction empty_kernel;
static CUstream stream;
static CUdeviceptr dev;
static unsigned char *pinned;

static const char empty_ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                                ".visible .entry empty()\n{\n    ret;\n}\n";

static CUresult set_up(void)
{
    CUdevice device;
    CUmodule module;
    CUresult rc = TRY(cuInit(0));

    if (rc != CUDA_SUCCESS || (rc = TRY(cuDeviceGet(&device, 0))) != CUDA_SUCCESS)
        return rc;
    rc = TRY(cuDevicePrimaryCtxRetain(&primary, device));
    if (rc != CUDA_SUCCESS || (rc = TRY(cuCtxSetCurrent(primary))) != CUDA_SUCCESS)
        return rc;
    if ((rc = TRY(cuModuleLoadData(&module, empty_ptx))) != CUDA_SUCCESS)
        return rc;
    TRY(cuModuleGetFunction(&empty_kernel, module, "empty"));
    TRY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    TRY(cuMemAllocHost((void **)&pinned, 64 * KB));
    return TRY(cuMemAlloc(&dev, 64 * KB));
}

static bool begin(void)
{
    return set_up() == CUDA_SUCCESS && load(&cupti, cupti_path("PROBE_CUPTI"));
}

static CUptiResult subscribe(void)
{
    return cupti.subscribe(&ear.subscriber, hear, NULL);
}

static void enable(CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
    CUptiResult rc = cupti.enable(1, ear.subscriber, domain, cbid);

    if (rc != CUPTI_SUCCESS)
        say(" {enable %d.%u=CUPTI %d}", (int)domain, cbid, (int)rc);
}

static void enable_domain(CUpti_CallbackDomain domain)
{
    CUptiResult rc = cupti.enable_domain(1, ear.subscriber, domain);

    if (rc != CUPTI_SUCCESS)
        say(" {enable domain %d=CUPTI %d}", (int)domain, (int)rc);
}

#define DRIVER_CBID(name) CUPTI_DRIVER_TRACE_CBID_##name

/* ---- Q1: loading and subscribing ---- */

static void q1(void)
{
    uint32_t version = 0;

    say("Q1 ");
    if (set_up() != CUDA_SUCCESS)
        return;
    const char *path = cupti_path("PROBE_CUPTI");
    unsigned threads = thread_count();
    unsigned long kb = resident_kb();
    uint64_t start = now_ns();
    if (!load(&cupti, path))
        return;
    say("%s: dlopen %.1f ms", path, ms_since(start));
    cupti.version(&version);
    say(", version %u", version);
    start = now_ns();
    CUptiResult rc = subscribe();
    say(", subscribe CUPTI %d in %.1f ms", (int)rc, ms_since(start));
    say(", threads %u -> %u, resident +%lu KB", threads, thread_count(), resident_kb() - kb);
    start = now_ns();
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    say(", first enable %.0f us", 1e3 * ms_since(start));
    rc = cupti.enable(1, ear.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, 100000);
    say(", enable of an unknown id CUPTI %d", (int)rc);
    start = now_ns();
    rc = cupti.unsubscribe(ear.subscriber);
    say(", unsubscribe CUPTI %d in %.0f us", (int)rc, 1e3 * ms_since(start));
    say(", again CUPTI %d", (int)cupti.unsubscribe(ear.subscriber));
    start = now_ns();
    rc = subscribe();
    say(", subscribe again CUPTI %d in %.0f us", (int)rc, 1e3 * ms_since(start));
    end_line();
}

/* Before cuInit, as a constructor would. */
static void early(void)
{
    say("Q1 before cuInit:");
    if (!load(&cupti, cupti_path("PROBE_CUPTI")))
        return;
    say(" subscribe CUPTI %d", (int)subscribe());
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuInit));
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    ear.tell = true;
    if (set_up() != CUDA_SUCCESS)
        return;
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    TRY(cuStreamSynchronize(stream));
    end_line();
}

/* ---- Q2: what it costs ---- */

enum { ROUNDS = 60, CALLS = 300 };

static double launch_ns(void)
{
    uint64_t start = now_ns();

    for (int i = 0; i < CALLS; i++)
        cuLaunchKernel(empty_kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
    return (double)(now_ns() - start) / CALLS;
}

static double copy_ns(void)
{
    uint64_t start = now_ns();

    for (int i = 0; i < CALLS; i++)
        cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream);
    return (double)(now_ns() - start) / CALLS;
}

static double record_ns(void)
{
    static CUevent event;
    if (event == NULL)
        TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    uint64_t start = now_ns();

    for (int i = 0; i < CALLS; i++)
        cuEventRecord(event, stream);
    return (double)(now_ns() - start) / CALLS;
}

static cudaError_t (*runtime_copy)(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t);

static double runtime_copy_ns(void)
{
    uint64_t start = now_ns();

    if (runtime_copy == NULL)
        return 0;
    for (int i = 0; i < CALLS; i++)
        runtime_copy((void *)(uintptr_t)dev, pinned, 4 * KB, cudaMemcpyHostToDevice, stream);
    return (double)(now_ns() - start) / CALLS;
}

static void bare(void)
{
}

static void loaded(void)
{
    load(&cupti, cupti_path("PROBE_CUPTI"));
}

static void subscribed(void)
{
    CUptiResult rc = subscribe();

    if (rc != CUPTI_SUCCESS)
        say(" {subscribe=CUPTI %d}", (int)rc);
}

static void one_driver_id(void)
{
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
}

static void some_driver_ids(void)
{
    static const CUpti_CallbackId ids[] = {
        DRIVER_CBID(cuMemcpyHtoDAsync_v2), DRIVER_CBID(cuMemcpyDtoHAsync_v2),
        DRIVER_CBID(cuMemcpyAsync),        DRIVER_CBID(cuMemsetD8Async),
        DRIVER_CBID(cuMemFree_v2),         DRIVER_CBID(cuMemFreeHost),
        DRIVER_CBID(cuMemHostUnregister),  DRIVER_CBID(cuStreamBeginCapture_v2),
        DRIVER_CBID(cuStreamEndCapture),
    };
    for (size_t i = 0; i < COUNT(ids); i++)
        enable(CUPTI_CB_DOMAIN_DRIVER_API, ids[i]);
}

static void runtime_id_too(void)
{
    enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020);
}

static void driver_domain(void)
{
    enable_domain(CUPTI_CB_DOMAIN_DRIVER_API);
}

static void runtime_domain_too(void)
{
    enable_domain(CUPTI_CB_DOMAIN_RUNTIME_API);
}

static void resource_domain_too(void)
{
    enable_domain(CUPTI_CB_DOMAIN_RESOURCE);
    enable_domain(CUPTI_CB_DOMAIN_SYNCHRONIZE);
}

static void unsubscribed(void)
{
    CUptiResult rc = cupti.unsubscribe(ear.subscriber);

    if (rc != CUPTI_SUCCESS)
        say(" {unsubscribe=CUPTI %d}", (int)rc);
}

static void finalized(void)
{
    CUptiResult rc = cupti.finalize();

    if (rc != CUPTI_SUCCESS)
        say(" {finalize=CUPTI %d}", (int)rc);
}

static void best_of(const char *name, double (*measure)(void))
{
    double best = 1e12;

    for (int i = 0; i < ROUNDS; i++) {
        double took = measure();
        TRY(cuStreamSynchronize(stream));
        if (took < best)
            best = took;
    }
    say(" %s %.0f", name, best);
}

/* The steps build on each other, the last two take it all away; the whole is measured twice. */
static void q2(void)
{
    static const struct {
        const char *name;
        void (*make)(void);
    } steps[] = {
        {"no libcupti", bare},
        {"loaded", loaded},
        {"subscribed", subscribed},
        {"+ cuMemcpyHtoDAsync_v2", one_driver_id},
        {"+ 8 more driver ids", some_driver_ids},
        {"+ cudaMemcpyAsync", runtime_id_too},
        {"+ the driver domain", driver_domain},
        {"+ the runtime domain", runtime_domain_too},
        {"+ resource and synchronise", resource_domain_too},
        {"unsubscribed", unsubscribed},
        {"subscribed again", subscribed},
        {"finalized", finalized},
    };

    if (set_up() != CUDA_SUCCESS)
        return;
    void *runtime = dlopen("libcudart.so.13", RTLD_NOW);
    if (runtime == NULL)
        runtime = dlopen("out/cuda/lib/libcudart.so.13", RTLD_NOW);
    if (runtime == NULL)
        runtime = dlopen("/usr/local/cuda/lib64/libcudart.so.13", RTLD_NOW);
    if (runtime != NULL)
        *(void **)&runtime_copy = dlsym(runtime, "cudaMemcpyAsync");
    for (size_t i = 0; i < COUNT(steps); i++) {
        say("Q2 ns a call, %s:", steps[i].name);
        steps[i].make();
        best_of("launch", launch_ns);
        best_of("4 KB copy", copy_ns);
        best_of("cudaMemcpyAsync", runtime_copy_ns);
        best_of("record", record_ns);
        best_of("launch", launch_ns);
        best_of("4 KB copy", copy_ns);
        say(" (heard %u)", heard());
        end_line();
    }
}

/* ---- Q3: two subscribers ---- */

static void q3(void)
{
    CUpti_SubscriberHandle other = NULL;
    char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
    CUpti_SubscriberParams params = {
        .structSize = CUpti_SubscriberParams_STRUCT_SIZE,
        .subscriberName = "probe 2",
        .oldSubscriberName = holder,
        .oldSubscriberSize = sizeof(holder),
    };

    say("Q3 ");
    if (!begin())
        return;
    say("first CUPTI %d", (int)subscribe());
    say(", second CUPTI %d", (int)cupti.subscribe(&other, hear, NULL));
    if (cupti.subscribe_v2 != NULL)
        say(", second by _v2 CUPTI %d held by '%s'",
            (int)cupti.subscribe_v2(&other, hear, NULL, &params), holder);
    say(", unsubscribe first CUPTI %d", (int)cupti.unsubscribe(ear.subscriber));
    if (cupti.subscribe_v2 != NULL)
        say(", then second by _v2 CUPTI %d", (int)cupti.subscribe_v2(&other, hear, NULL, &params));
    say(", unsubscribe of the stale first CUPTI %d", (int)cupti.unsubscribe(ear.subscriber));
    say(", third CUPTI %d", (int)subscribe());
    cupti.enable(1, other, CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    heard();
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    say(", the second hears %u", heard());
    end_line();
}

/* ---- Q4: who is heard: ways to reach the driver ---- */

static void q4_way(const char *name, CUresult (*copy)(CUdeviceptr, const void *, size_t, CUstream))
{
    heard();
    if (copy == NULL)
        say(" %s: none;", name);
    else if (copy(dev, pinned, 64, stream) == CUDA_SUCCESS)
        say(" %s: %u;", name, heard());
}

static void q4(void)
{
    CUresult (*before)(CUdeviceptr, const void *, size_t, CUstream) = NULL;
    CUresult (*after)(CUdeviceptr, const void *, size_t, CUstream) = NULL;
    CUdriverProcAddressQueryResult status;

    say("Q4 callbacks heard of one copy:");
    if (set_up() != CUDA_SUCCESS)
        return;
    TRY(cuGetProcAddress("cuMemcpyHtoDAsync", (void **)&before, 12000, 0, &status));
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    if (!load(&cupti, cupti_path("PROBE_CUPTI")))
        return;
    say(" (subscribe CUPTI %d)", (int)subscribe());
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2_ptsz));
    q4_way("by symbol", cuMemcpyHtoDAsync);
    q4_way("by cuGetProcAddress before", before);
    TRY(cuGetProcAddress("cuMemcpyHtoDAsync", (void **)&after, 12000, 0, &status));
    q4_way(after == before ? "after (same)" : "after (another)", after);
    TRY(cuGetProcAddress("cuMemcpyHtoDAsync", (void **)&after, 12000, 2, &status));
    q4_way("_ptsz", after);
    void *again = dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW);
    say(" dlmopen of a second libcuda: %s", again != NULL ? "loads" : dlerror());
    end_line();
}

/* ---- Q5: what runtimes call ---- */

struct runtime {
    void *library;
    cudaError_t (*memcpy_async)(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t);
    cudaError_t (*memcpy_async_ptsz)(void *, const void *, size_t, enum cudaMemcpyKind,
                                     cudaStream_t);
    cudaError_t (*memcpy)(void *, const void *, size_t, enum cudaMemcpyKind);
    cudaError_t (*memcpy_2d)(void *, size_t, const void *, size_t, size_t, size_t,
                             enum cudaMemcpyKind, cudaStream_t);
    cudaError_t (*memset_async)(void *, int, size_t, cudaStream_t);
    cudaError_t (*malloc)(void **, size_t);
    cudaError_t (*free)(void *);
    cudaError_t (*malloc_host)(void **, size_t);
    cudaError_t (*free_host)(void *);
    cudaError_t (*host_register)(void *, size_t, unsigned);
    cudaError_t (*host_unregister)(void *);
    cudaError_t (*malloc_async)(void **, size_t, cudaStream_t);
    cudaError_t (*free_async)(void *, cudaStream_t);
    cudaError_t (*synchronize)(cudaStream_t);
    cudaError_t (*device_synchronize)(void);
    cudaError_t (*begin_capture)(cudaStream_t, enum cudaStreamCaptureMode);
    cudaError_t (*end_capture)(cudaStream_t, cudaGraph_t *);
    cudaError_t (*host_function)(cudaStream_t, cudaHostFn_t, void *);
};

static bool load_runtime(struct runtime *r, const char *path)
{
    r->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (r->library == NULL)
        return false;
#define FIND(member, name) *(void **)&r->member = dlsym(r->library, name)
    FIND(memcpy_async, "cudaMemcpyAsync");
    FIND(memcpy_async_ptsz, "cudaMemcpyAsync_ptsz");
    FIND(memcpy, "cudaMemcpy");
    FIND(memcpy_2d, "cudaMemcpy2DAsync");
    FIND(memset_async, "cudaMemsetAsync");
    FIND(malloc, "cudaMalloc");
    FIND(free, "cudaFree");
    FIND(malloc_host, "cudaMallocHost");
    FIND(free_host, "cudaFreeHost");
    FIND(host_register, "cudaHostRegister");
    FIND(host_unregister, "cudaHostUnregister");
    FIND(malloc_async, "cudaMallocAsync");
    FIND(free_async, "cudaFreeAsync");
    FIND(synchronize, "cudaStreamSynchronize");
    FIND(device_synchronize, "cudaDeviceSynchronize");
    FIND(begin_capture, "cudaStreamBeginCapture");
    FIND(end_capture, "cudaStreamEndCapture");
    FIND(host_function, "cudaLaunchHostFunc");
#undef FIND
    return r->memcpy_async != NULL;
}

/* One runtime call and what both domains say of it, in order. */
#define CALL(version, label, call)                                                                 \
    do {                                                                                           \
        say("Q5 %s %s:", version, label);                                                          \
        ear.tell = ear.tell_exit = true;                                                           \
        int rc_ = (int)(call);                                                                     \
        ear.tell = ear.tell_exit = false;                                                          \
        say(" = %d", rc_);                                                                         \
        end_line();                                                                                \
    } while (0)

static void q5_calls(const char *v, const struct runtime *r)
{
    void *memory = NULL, *block = NULL, *device_memory = (void *)(uintptr_t)dev;
    void *registered = aligned_alloc(4096, 64 * KB), *pageable = malloc(64 * KB);
    cudaGraph_t graph = NULL;

    CALL(v, "cudaMemcpyAsync H2D pinned",
         r->memcpy_async(device_memory, pinned, 64, cudaMemcpyHostToDevice, stream));
    CALL(v, "cudaMemcpyAsync D2H pinned",
         r->memcpy_async(pinned, device_memory, 64, cudaMemcpyDeviceToHost, stream));
    CALL(v, "cudaMemcpyAsync default kind",
         r->memcpy_async(device_memory, pinned, 64, cudaMemcpyDefault, stream));
    CALL(v, "cudaMemcpyAsync D2D",
         r->memcpy_async(device_memory, (char *)device_memory + KB, 64, cudaMemcpyDeviceToDevice,
                         stream));
    CALL(v, "cudaMemcpyAsync H2H",
         r->memcpy_async(pinned, pageable, 64, cudaMemcpyHostToHost, stream));
    CALL(v, "cudaMemcpyAsync H2D pageable",
         r->memcpy_async(device_memory, pageable, 64, cudaMemcpyHostToDevice, stream));
    if (r->memcpy_async_ptsz != NULL)
        CALL(v, "cudaMemcpyAsync_ptsz",
             r->memcpy_async_ptsz(device_memory, pinned, 64, cudaMemcpyHostToDevice, 0));
    CALL(v, "cudaMemcpy H2D", r->memcpy(device_memory, pinned, 64, cudaMemcpyHostToDevice));
    CALL(v, "cudaMemcpy2DAsync",
         r->memcpy_2d(device_memory, 64, pinned, 128, 64, 4, cudaMemcpyHostToDevice, stream));
    CALL(v, "cudaMemsetAsync", r->memset_async(device_memory, 0, 64, stream));
    CALL(v, "cudaMallocHost", r->malloc_host(&memory, KB));
    CALL(v, "cudaFreeHost", r->free_host(memory));
    CALL(v, "cudaHostRegister", r->host_register(registered, 64 * KB, 0));
    CALL(v, "cudaHostUnregister", r->host_unregister(registered));
    CALL(v, "cudaMalloc", r->malloc(&block, KB));
    CALL(v, "cudaFree", r->free(block));
    if (r->malloc_async != NULL) {
        CALL(v, "cudaMallocAsync", r->malloc_async(&block, KB, stream));
        CALL(v, "cudaFreeAsync", r->free_async(block, stream));
    }
    CALL(v, "cudaLaunchHostFunc", r->host_function(stream, do_nothing, NULL));
    CALL(v, "cudaStreamBeginCapture", r->begin_capture(stream, cudaStreamCaptureModeThreadLocal));
    CALL(v, "cudaMemcpyAsync captured",
         r->memcpy_async(device_memory, pinned, 64, cudaMemcpyHostToDevice, stream));
    CALL(v, "cudaStreamEndCapture", r->end_capture(stream, &graph));
    CALL(v, "cudaStreamSynchronize", r->synchronize(stream));
    CALL(v, "cudaDeviceSynchronize", r->device_synchronize());
}

static void q5_runtime(const char *version, const char *const *paths)
{
    struct runtime runtime = {0};
    char label[32];

    for (; *paths != NULL && !load_runtime(&runtime, *paths); paths++)
        ;
    if (*paths == NULL) {
        say("Q5 no cudart %s here", version);
        end_line();
        return;
    }
    snprintf(label, sizeof(label), "cudart %s", version);
    runtime.memcpy((void *)(uintptr_t)dev, pinned, 64, cudaMemcpyHostToDevice); /* it starts up */
    q5_calls(label, &runtime);
}

static void q5(void)
{
    static const char *const paths_13[] = {"out/cuda/lib/libcudart.so.13", "libcudart.so.13",
                                           "/usr/local/cuda/lib64/libcudart.so.13", NULL};
    static const char *const paths_12[] = {"out/cuda12/lib/libcudart.so.12", "libcudart.so.12",
                                           NULL};
    static const char *const paths_11[] = {"out/cuda11/lib/libcudart.so.11.0", "libcudart.so.11.0",
                                           NULL};

    say("Q5 Name[id]#correlation, R: of the runtime's domain, / its exit");
    if (!begin())
        return;
    say(" (subscribe CUPTI %d)", (int)subscribe());
    end_line();
    enable_domain(CUPTI_CB_DOMAIN_DRIVER_API);
    enable_domain(CUPTI_CB_DOMAIN_RUNTIME_API);
    q5_runtime("13", paths_13);
    q5_runtime("12", paths_12);
    q5_runtime("11.8", paths_11);
}

static void CUDA_CB do_nothing(void *unused)
{
    (void)unused;
}

/* ---- Q6: threads, re-entry, unsubscribing while a callback runs ---- */

static void *copy_once(void *unused)
{
    (void)unused;
    cuCtxSetCurrent(primary);
    cuMemcpyHtoDAsync(dev, pinned, 64, stream);
    return NULL;
}

static void unsubscribe_beside(void)
{
    pthread_t thread;

    say("Q6 unsubscribing while a callback of 100 ms runs elsewhere:");
    ear.linger_ms = 100;
    if (pthread_create(&thread, NULL, copy_once, NULL) != 0)
        return;
    while (atomic_load(&ear.inside) == 0)
        sleep_ms(1);
    uint64_t start = now_ns();
    CUptiResult rc = cupti.unsubscribe(ear.subscriber);
    say(" CUPTI %d after %.1f ms, callbacks still inside: %d", (int)rc, ms_since(start),
        atomic_load(&ear.inside));
    pthread_join(thread, NULL);
    ear.linger_ms = 0;
    say(", callbacks in all %u (2: the exit was still delivered)", heard());
    end_line();
}

static void q6(void)
{
    say("Q6 a copy on this thread:");
    if (!begin())
        return;
    say(" (subscribe CUPTI %d)", (int)subscribe());
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuStreamQuery));
    ear.caller = syscall(SYS_gettid);
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    say(" %u callbacks, elsewhere: %d", heard(), (int)ear.elsewhere);
    end_line();
    ear.caller = 0;
    say("Q6 a driver call inside a callback:");
    ear.call_driver = true;
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    ear.call_driver = false;
    say(" %u callbacks (2: the inner call is not announced)", heard());
    end_line();
    unsubscribe_beside();
    say("Q6 unsubscribing inside the enter callback:");
    subscribe();
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    ear.unsubscribe = true;
    CUresult rc = cuMemcpyHtoDAsync(dev, pinned, 64, stream);
    say(" CUPTI %d, copy %d, callbacks %u", ear.unsubscribed, (int)rc, heard());
    end_line();
}

/* ---- Q7: captures ---- */

static void q7(void)
{
    CUgraph graph = NULL;
    size_t nodes = 0;

    say("Q7 during a global capture:");
    if (set_up() != CUDA_SUCCESS)
        return;
    TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (!load(&cupti, cupti_path("PROBE_CUPTI")))
        return;
    say(" subscribe CUPTI %d", (int)subscribe());
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    say(", heard %u, unsubscribe CUPTI %d", heard(), (int)cupti.unsubscribe(ear.subscriber));
    say(", end %d", (int)cuStreamEndCapture(stream, &graph));
    if (graph != NULL)
        cuGraphGetNodes(graph, NULL, &nodes);
    say(" with %zu node", nodes);
    end_line();
    say("Q7 resource callbacks of a capture, an exec, a launch, and their end:");
    subscribe();
    enable_domain(CUPTI_CB_DOMAIN_RESOURCE);
    ear.tell = true;
    CUgraphExec exec = NULL;
    TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    TRY(cuStreamEndCapture(stream, &graph));
    say(" |instantiate");
    TRY(cuGraphInstantiate(&exec, graph, 0));
    say(" |launch");
    TRY(cuGraphLaunch(exec, stream));
    TRY(cuStreamSynchronize(stream));
    say(" |destroy");
    TRY(cuGraphExecDestroy(exec));
    TRY(cuGraphDestroy(graph));
    end_line();
}

/* ---- Q8: fork and exit ---- */

static void child_of_fork(void)
{
    alarm(5);
    say(" child: cuInit %d", (int)cuInit(0));
    say(", copy %d", (int)cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    say(", heard %u", heard());
    say(", unsubscribe CUPTI %d", (int)cupti.unsubscribe(ear.subscriber));
    say(", subscribe CUPTI %d", (int)subscribe());
    end_line();
    _exit(0);
}

static void at_exit_say(void)
{
    say(" in atexit: copy %d", (int)cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    say(" heard %u", heard());
    say(", unsubscribe CUPTI %d", (int)cupti.unsubscribe(ear.subscriber));
    end_line();
}

static _Atomic bool late_calls;

static __attribute__((destructor)) void in_destructor(void)
{
    if (!atomic_load(&late_calls))
        return;
    say("Q8 in a destructor: copy %d", (int)cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    say(" heard %u", heard());
    say(", unsubscribe CUPTI %d", (int)cupti.unsubscribe(ear.subscriber));
    end_line();
}

static void q8(void)
{
    int status = 0;

    say("Q8 fork while subscribed:");
    if (!begin())
        return;
    say(" (subscribe CUPTI %d)", (int)subscribe());
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    pid_t child = fork();
    if (child == 0)
        child_of_fork();
    waitpid(child, &status, 0);
    say("Q8 child ended with %d of signal %d; the parent's copy is heard %s", WEXITSTATUS(status),
        WIFSIGNALED(status) ? WTERMSIG(status) : 0,
        cuMemcpyHtoDAsync(dev, pinned, 64, stream) == CUDA_SUCCESS && heard() ? "yes" : "no");
    end_line();
    say("Q8 exit while subscribed:");
    atexit(at_exit_say);
    atomic_store(&late_calls, true);
    exit(0);
}

/* ---- Q9: two libcuptis ---- */

static void q9(void)
{
    struct cupti second = {0};
    CUpti_SubscriberHandle other = NULL;
    uint32_t version = 0;

    say("Q9 a second libcupti beside:");
    if (getenv("PROBE_CUPTI_2") == NULL) {
        say(" not asked (PROBE_CUPTI_2)");
        end_line();
        return;
    }
    if (!begin())
        return;
    say(" first subscribe CUPTI %d", (int)subscribe());
    if (!load(&second, cupti_path("PROBE_CUPTI_2")))
        return;
    second.version(&version);
    say(", version %u", version);
    say(", its subscribe CUPTI %d", (int)second.subscribe(&other, hear, NULL));
    say(", unsubscribe first CUPTI %d", (int)cupti.unsubscribe(ear.subscriber));
    CUptiResult rc = second.subscribe(&other, hear, NULL);
    say(", its subscribe CUPTI %d", (int)rc);
    if (rc == CUPTI_SUCCESS) {
        second.enable(1, other, CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
        TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
        say(", it hears %u, enable of the newest id CUPTI %d", heard(),
            (int)second.enable(1, other, CUPTI_CB_DOMAIN_DRIVER_API,
                               CUPTI_DRIVER_TRACE_CBID_SIZE - 1));
    }
    end_line();
}

/* ---- the list, and the processes that work through it ---- */

static const struct question {
    int number;
    void (*ask)(void);
} questions[] = {
    {1, q1}, {1, early}, {2, q2}, {3, q3}, {4, q4}, {5, q5}, {6, q6}, {7, q7}, {8, q8}, {9, q9},
};

static bool is_wanted(const struct question *q, int argc, char **argv)
{
    if (argc < 2)
        return true;
    for (int i = 1; i < argc; i++)
        if (atoi(argv[i]) == q->number)
            return true;
    return false;
}

static void ask(const struct question *q)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        alarm(CHILD_LIMIT_S);
        q->ask();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return;
    if (WIFSIGNALED(status))
        say(" DIED of signal %d%s", WTERMSIG(status),
            WTERMSIG(status) == SIGALRM ? " (too long)" : "");
    if (*midway)
        end_line();
}

int main(int argc, char **argv)
{
    void *shared =
        mmap(NULL, sizeof(*midway), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED) {
        perror("probe_cupti: mmap");
        return 1;
    }
    midway = shared;
    for (size_t i = 0; i < COUNT(questions); i++)
        if (is_wanted(&questions[i], argc, argv))
            ask(&questions[i]);
    puts("probe_cupti done");
    return 0;
}

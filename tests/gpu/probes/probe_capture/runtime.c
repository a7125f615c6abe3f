/* What the runtime asks of the driver during a capture. */
#include "world.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

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

    if (!real)
        real = (__typeof__(real))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (!real)
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

    if (rc != CUDA_SUCCESS || !pfn || !*pfn || traced_count == TRACED_LIMIT)
        return rc;
    if (strcmp(name, "cuGetProcAddress") == 0) {
        *pfn = (void *)(uintptr_t)get_traced;
        return rc;
    }
#ifdef __x86_64__
    struct traced *t = &traced[traced_count];
    t->real = *pfn;
    snprintf(t->name, sizeof t->name, "%s%s", name,
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

static void *got; /* not given back */

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

/* X(id, name, the call) */
#define TRACED(X)                                                                                  \
    X(to_device, "cudaMemcpy H2D pageable",                                                        \
      RT(cudaMemcpy)(rt_dev, rt_host, 4 * KB, cudaMemcpyHostToDevice))                             \
    X(to_host, "cudaMemcpy D2H pageable",                                                          \
      RT(cudaMemcpy)(rt_host, rt_dev, 4 * KB, cudaMemcpyDeviceToHost))                             \
    X(copy_async, "cudaMemcpyAsync H2D, stream 0",                                                 \
      RT(cudaMemcpyAsync)(rt_dev, rt_host, 4 * KB, cudaMemcpyHostToDevice, 0))                     \
    X(malloc, "cudaMalloc", RT(cudaMalloc)(&got, 4 * KB))                                          \
    X(malloc_host, "cudaMallocHost", RT(cudaMallocHost)(&got, 4 * KB))                             \
    X(free_host, "cudaFreeHost", RT(cudaFreeHost)(rt_pinned))                                      \
    X(event_query, "cudaEventQuery", RT(cudaEventQuery)(rt_event))                                 \
    X(memset, "cudaMemset", RT(cudaMemset)(rt_dev, 0, 4 * KB))                                     \
    X(synchronize, "cudaDeviceSynchronize", RT(cudaDeviceSynchronize)())                           \
    X(malloc_async, "cudaMallocAsync, stream 0", RT(cudaMallocAsync)(&got, 4 * KB, 0))             \
    X(instantiate, "cudaGraphInstantiate", rt_instantiate())

#define DEFINE_TRACED(id, name, call)                                                              \
    static int trace_##id(void)                                                                    \
    {                                                                                              \
        return (int)(call);                                                                        \
    }
TRACED(DEFINE_TRACED)

#define LIST_TRACED(id, name, call) {name, trace_##id},
static const struct {
    const char *name;
    int (*call)(void);
} traced_calls[] = {TRACED(LIST_TRACED)};

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

static bool open_traced_runtime(void)
{
    int version = 0;

    tracing = true;
    thunks = mmap(NULL, (size_t)TRACED_LIMIT * THUNK_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    runtime = dlopen("libcudart.so.13", RTLD_NOW);
    if (!runtime || thunks == MAP_FAILED) {
        say("Q9 not asked: %s", !runtime ? dlerror() : "no executable memory");
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

void q9(void)
{
    if (!open_traced_runtime())
        return;
    rt_host = take(PAGEABLE, 64 * KB);
    RT(cudaMalloc)(&rt_dev, 64 * KB);
    RT(cudaMallocHost)(&rt_pinned, 64 * KB);
    RT(cudaEventCreate)(&rt_event);
    RT(cudaEventRecord)(rt_event, 0);
    settle();
    for (size_t i = 0; i < COUNT(traced_calls); i++) {
        trace_call(traced_calls[i].name, traced_calls[i].call, true);
        if (traced_calls[i].call != trace_free_host)
            trace_call("  the same without a capture", traced_calls[i].call, false);
    }
    trace_call("graph with a memcpy node: create, add, instantiate, set, launch, destroy",
               rt_launch_outside, false);
}

/*
 * What the simulated driver promises, checked through the driver API: the tables of docs/driver.md
 * (when host memory is read, what frees wait for, what captures forbid), ordering, and look-up.
 *
 * Without arguments it runs itself once for each SIM_GPU setting below, since settings are read
 * once. Exit status 0: all right; 1: each failed check on stderr.
 */
#include <cuda.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KB ((size_t)1 << 10)
#define MB ((size_t)1 << 20)
#define BUSY_MS 30

static int failures;
static CUcontext context;
static CUfunction spin, count_down;
static CUdeviceptr device, device2;

static void check(int good, int line, const char *what)
{
    if (!good) {
        fprintf(stderr, "selftest.c:%d: [%s] %s\n", line, getenv("SIM_GPU"), what);
        failures++;
    }
}

static void check_result(CUresult got, CUresult want, int line, const char *call)
{
    if (got != want) {
        fprintf(stderr, "selftest.c:%d: [%s] %s: %d, not %d\n", line, getenv("SIM_GPU"), call, got,
                want);
        failures++;
    }
}

#define CHECK(condition) check(!!(condition), __LINE__, #condition)
#define IS(call, want) check_result(call, want, __LINE__, #call)
#define OK(call) IS(call, CUDA_SUCCESS)

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void occupy(CUstream stream)
{
    uint64_t ns = BUSY_MS * 1000000;
    void *params[] = {&ns};
    OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

static _Atomic bool is_gate_open;

static void CUDA_CB wait_for_gate(void *unused)
{
    double until = now_ms() + 60000;
    (void)unused;
    while (!atomic_load(&is_gate_open) && now_ms() < until)
        usleep(100);
}

/* What comes next on the stream waits for open_gate, however slow this machine is. */
static void shut_gate(CUstream stream)
{
    atomic_store(&is_gate_open, false);
    OK(cuLaunchHostFunc(stream, wait_for_gate, NULL));
}

static void open_gate(void)
{
    atomic_store(&is_gate_open, true);
}

static CUevent held;

/* Before a call that waits for the stream, or does not. */
static void hold_back(CUstream stream, int waits)
{
    if (waits)
        occupy(stream);
    else
        shut_gate(stream);
    OK(cuEventCreate(&held, CU_EVENT_DISABLE_TIMING));
    OK(cuEventRecord(held, stream));
}

/* Behind that call: did it? What it did not wait for may be over as well, unless it is the gate. */
static int has_waited(void)
{
    CUresult found = cuEventQuery(held);
    OK(cuEventDestroy(held));
    return found == CUDA_SUCCESS;
}

static CUstream stream_new(unsigned flags)
{
    CUstream stream = NULL;
    OK(cuStreamCreate(&stream, flags));
    return stream;
}

static int device_byte(CUdeviceptr address)
{
    return *(volatile unsigned char *)(uintptr_t)address;
}

/* ---- section 1 ---- */
enum kind { PINNED, REGISTERED, PAGEABLE };

static unsigned char *host_new(enum kind kind, size_t size)
{
    void *p = NULL;
    if (kind == PINNED) {
        OK(cuMemAllocHost(&p, size));
    } else {
        p = aligned_alloc(4096, (size + 4095) & ~(size_t)4095);
        if (kind == REGISTERED)
            OK(cuMemHostRegister(p, size, 0));
    }
    return p;
}

static void host_free(enum kind kind, void *p)
{
    if (kind == PINNED) {
        OK(cuMemFreeHost(p));
        return;
    }
    if (kind == REGISTERED)
        OK(cuMemHostUnregister(p));
    free(p);
}

static CUresult batch(CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpySrcAccessOrder order,
                      CUstream stream)
{
    CUmemcpyAttributes attributes = {.srcAccessOrder = order};
    size_t first = 0;
    return cuMemcpyBatchAsync(&dst, &src, &size, 1, &attributes, &first, 1, stream);
}

#define PLAIN 0 /* instead of an access order: cuMemcpyAsync */

static void upload(int order, enum kind kind, size_t size, int blocks, int sees_new)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    unsigned char *host = host_new(kind, size);
    memset(host, 1, size);
    hold_back(stream, blocks);
    if (order == PLAIN) {
        OK(cuMemcpyHtoDAsync(device, host, size, stream));
    } else {
        OK(batch(device, (CUdeviceptr)(uintptr_t)host, size, (CUmemcpySrcAccessOrder)order,
                 stream));
    }
    int waited = has_waited();
    memset(host, 2, size);
    open_gate();
    OK(cuStreamSynchronize(stream));
    int seen = device_byte(device + size - 1);
    if (waited != blocks || seen != (sees_new ? 2 : 1)) {
        fprintf(stderr, "selftest.c: [%s] upload order %d kind %d size %zu: waited %d, saw %d\n",
                getenv("SIM_GPU"), order, (int)kind, size, waited, seen);
        failures++;
    }
    host_free(kind, host);
    OK(cuStreamDestroy(stream));
}

static void test_uploads(int late_batch)
{
    const int stream_order = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    const int during = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    const int any = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
    upload(PLAIN, PINNED, 16, 0, 1);
    upload(PLAIN, PINNED, 64 * MB, 0, 1);
    upload(PLAIN, REGISTERED, 16, 0, 1);
    upload(PLAIN, REGISTERED, 64 * MB, 0, 1);
    upload(PLAIN, PAGEABLE, 16, 0, 0);
    upload(PLAIN, PAGEABLE, MB, 0, 0);
    upload(PLAIN, PAGEABLE, 64 * MB, 1, 0);
    upload(stream_order, PINNED, 64 * KB, 0, 1);
    upload(stream_order, PAGEABLE, 4, !late_batch, late_batch);
    upload(stream_order, PAGEABLE, 64 * KB, !late_batch, late_batch);
    upload(stream_order, PAGEABLE, MB, !late_batch, late_batch);
    upload(during, PINNED, 64 * KB, 1, 0);
    upload(during, PAGEABLE, 64 * KB, 0, 0);
    upload(during, PAGEABLE, MB, 0, 1);
    upload(any, PINNED, 64 * KB, 0, 1);
    upload(any, PAGEABLE, 64 * KB, 0, 0);
    upload(any, PAGEABLE, 4 * MB, 0, 1);
}

static void download(int order, enum kind kind, int blocks)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    unsigned char *host = host_new(kind, MB);
    memset(host, 1, MB);
    OK(cuMemsetD8(device, 7, MB));
    OK(cuCtxSynchronize());
    hold_back(stream, blocks);
    if (order == PLAIN)
        OK(cuMemcpyDtoHAsync(host, device, MB, stream));
    else
        OK(batch((CUdeviceptr)(uintptr_t)host, device, MB, (CUmemcpySrcAccessOrder)order, stream));
    CHECK(has_waited() == blocks);
    CHECK(*(volatile unsigned char *)(host + MB - 1) == (blocks ? 7 : 1));
    open_gate();
    OK(cuStreamSynchronize(stream));
    CHECK(host[MB - 1] == 7);
    host_free(kind, host);
    OK(cuStreamDestroy(stream));
}

static void test_downloads(void)
{
    download(PLAIN, PINNED, 0);
    download(PLAIN, REGISTERED, 0);
    download(PLAIN, PAGEABLE, 1);
    download(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, PAGEABLE, 0);
    download(CU_MEMCPY_SRC_ACCESS_ORDER_ANY, PAGEABLE, 0);
}

/* A synchronous pageable upload returns before it has landed, and orders what follows it. */
static void test_sync_upload(int late)
{
    unsigned char *host = malloc(MB), back = 0;
    OK(cuMemsetD8(device, 0, MB));
    OK(cuCtxSynchronize());
    memset(host, 9, MB);
    OK(cuMemcpyHtoD(device, host, MB));
    if (late)
        CHECK(device_byte(device + MB - 1) == 0);
    memset(host, 8, MB);
    OK(cuMemcpyDtoH(&back, device + MB - 1, 1));
    CHECK(back == 9);
    free(host);
}

static void CUDA_CB write_four(void *host)
{
    memset(host, 4, 4 * KB);
}

/* A pageable source is read when the blocking streams have done their work, and managed memory is
 * waited for as the host's is. */
static void test_sync_turn(void)
{
    CUstream stream = stream_new(CU_STREAM_DEFAULT);
    CUdeviceptr managed;
    unsigned char *host = calloc(1, 4 * KB), back = 0;
    OK(cuMemAllocManaged(&managed, 4 * KB, CU_MEM_ATTACH_GLOBAL));
    occupy(stream);
    OK(cuLaunchHostFunc(stream, write_four, host));
    OK(cuMemcpyHtoD(device, host, 4 * KB));
    OK(cuMemcpyDtoH(&back, device, 1));
    CHECK(back == 4);
    hold_back(stream, true);
    OK(cuMemsetD8(managed, 1, 4 * KB));
    CHECK(has_waited());
    hold_back(stream, true);
    OK(cuMemcpy(device, managed, 4 * KB));
    CHECK(has_waited());
    OK(cuMemFree(managed));
    OK(cuStreamDestroy(stream));
    free(host);
}

static void test_batch_from_freed(void)
{
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "selftest", "die", (char *)NULL);
        _exit(2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* A thread of the driver's touches the pageable side of a batch, and so faults where that is
 * protected: whoever handles the fault lets it go on. */
static char *protected_pages;

static void let_go(int number)
{
    (void)number;
    mprotect(protected_pages, MB, PROT_READ | PROT_WRITE);
}

static void test_batch_of_protected(enum kind kind, int is_source)
{
    struct sigaction before, letting = {.sa_handler = let_go};
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    unsigned char *host = host_new(kind, MB);
    protected_pages = mmap(NULL, MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUdeviceptr other = (CUdeviceptr)(uintptr_t)host;
    CUdeviceptr pages = (CUdeviceptr)(uintptr_t)protected_pages;
    memset(protected_pages, is_source ? 7 : 1, MB);
    memset(host, is_source ? 1 : 7, MB);
    mprotect(protected_pages, MB, PROT_NONE);
    sigaction(SIGSEGV, &letting, &before);
    OK(batch(is_source ? other : pages, is_source ? pages : other, MB,
             CU_MEMCPY_SRC_ACCESS_ORDER_ANY, stream));
    OK(cuStreamSynchronize(stream));
    sigaction(SIGSEGV, &before, NULL);
    CHECK(host[0] == 7 && host[MB - 1] == 7);
    CHECK(protected_pages[0] == 7 && protected_pages[MB - 1] == 7);
    munmap(protected_pages, MB);
    host_free(kind, host);
    OK(cuStreamDestroy(stream));
}

static void die_by_batch(void)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    char *p = mmap(NULL, MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would exit instead */
    occupy(stream);
    OK(batch(device, (CUdeviceptr)(uintptr_t)p, MB, CU_MEMCPY_SRC_ACCESS_ORDER_ANY, stream));
    munmap(p, MB);
    cuStreamSynchronize(stream);
}

/* ---- section 2 ---- */
enum { FREE_HOST, UNREGISTER, FREE_DEVICE, ALLOC_HOST, REGISTER, DESTROY, WAITS = FREE_DEVICE };

static void free_in_flight(int what)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    void *pinned = host_new(PINNED, MB), *registered = host_new(REGISTERED, MB);
    void *more_pinned = NULL, *heap = host_new(PAGEABLE, MB);
    CUdeviceptr memory;
    OK(cuMemAlloc(&memory, MB));
    hold_back(stream, what <= WAITS);
    switch (what) {
    case FREE_HOST:
        OK(cuMemFreeHost(pinned));
        break;
    case UNREGISTER:
        OK(cuMemHostUnregister(registered));
        break;
    case FREE_DEVICE:
        OK(cuMemFree(memory));
        break;
    case ALLOC_HOST:
        OK(cuMemAllocHost(&more_pinned, MB));
        break;
    case REGISTER:
        OK(cuMemHostRegister(heap, MB, 0));
        break;
    case DESTROY:
        OK(cuStreamDestroy(stream));
        break;
    }
    CHECK(has_waited() == (what <= WAITS));
    open_gate();
    OK(cuCtxSynchronize());
    IS(cuMemFreeHost(pinned), what == FREE_HOST ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
    IS(cuMemHostUnregister(registered),
       what == UNREGISTER ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED : CUDA_SUCCESS);
    IS(cuMemFree(memory), what == FREE_DEVICE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
    OK(cuMemFreeHost(more_pinned));
    IS(cuMemHostUnregister(heap),
       what == REGISTER ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    IS(cuStreamDestroy(stream), what == DESTROY ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS);
    free(registered);
    free(heap);
}

static void test_frees(void)
{
    for (int what = FREE_HOST; what <= DESTROY; what++)
        free_in_flight(what);
}

static void test_unmap_in_flight(void)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    unsigned char *p =
        mmap(NULL, 64 * KB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    OK(cuMemHostRegister(p, 64 * KB, 0));
    memset(p, 5, 64 * KB);
    OK(cuMemsetD8(device, 0, 64 * KB));
    occupy(stream);
    OK(cuMemcpyHtoDAsync(device, p, 64 * KB, stream));
    OK(cuMemcpyDtoHAsync(p, device2, 64 * KB, stream)); /* lands nowhere */
    munmap(p, 64 * KB);
    OK(cuStreamSynchronize(stream));
    CHECK(device_byte(device) == 5 && device_byte(device + 64 * KB - 1) == 5);
    OK(cuMemHostUnregister(p));
    OK(cuStreamDestroy(stream));
}

static void test_protection(enum kind kind)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    unsigned char *p = host_new(kind, 16 * KB);
    memset(p, 3, 16 * KB);
    OK(cuMemsetD8(device2, 4, 16 * KB));
    OK(cuCtxSynchronize());
    occupy(stream);
    OK(cuMemcpyHtoDAsync(device, p, 16 * KB, stream));
    OK(cuMemcpyDtoHAsync(p, device2, 16 * KB, stream));
    uintptr_t page = ((uintptr_t)p + 4095) & ~(uintptr_t)4095;
    CHECK(mprotect((void *)page, 8 * KB, PROT_NONE) == 0);
    OK(cuStreamSynchronize(stream));
    CHECK(mprotect((void *)page, 8 * KB, PROT_READ | PROT_WRITE) == 0);
    CHECK(device_byte(device + 8 * KB) == 3 && p[8 * KB] == 4);
    host_free(kind, p);
    OK(cuStreamDestroy(stream));
}

static void test_errors(void)
{
    static char heap[16384] __attribute__((aligned(4096)));
    int local;
    CUdeviceptr p;
    void *pinned;
    OK(cuMemAlloc(&p, 100));
    IS(cuMemcpyHtoD(p, heap, 101), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemFree(p + 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(p));
    IS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemFreeHost(&local), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemHostRegister(heap, 8192, 0));
    IS(cuMemHostRegister(heap + 4096, 8192, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    IS(cuMemHostUnregister(heap + 8192), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    OK(cuMemHostUnregister(heap));
    IS(cuMemHostUnregister(heap), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    OK(cuMemHostAlloc(&pinned, 64, 0));
    IS(cuMemHostRegister(pinned, 64, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemHostUnregister(pinned), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(pinned));
    IS(cuStreamSynchronize((CUstream)(void *)heap), CUDA_ERROR_INVALID_HANDLE);
}

/* A stream may allocate from the pool of another device. */
static void test_pool_of_peer(CUstream a)
{
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1}};
    CUmemoryPool pool;
    CUdeviceptr memory;
    int devices = 0, ordinal = -1;
    OK(cuDeviceGetCount(&devices));
    if (devices < 2)
        return;
    OK(cuMemPoolCreate(&pool, &properties));
    OK(cuMemAllocFromPoolAsync(&memory, 4096, pool, a));
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
    CHECK(ordinal == 1);
    OK(cuMemPoolDestroy(pool));
    OK(cuMemFreeAsync(memory, a)); /* which outlives its pool */
}

/* Memory that another stream has freed: the driver puts the allocation behind the free. */
static void test_pool_between(CUstream a)
{
    CUstream b = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr first, second, plain;
    OK(cuMemAllocAsync(&first, 4096, a));
    occupy(a);
    OK(cuMemsetD8Async(first, 1, 4096, a));
    OK(cuMemFreeAsync(first, a));
    OK(cuMemAlloc(&plain, 4096)); /* which nothing could put behind it */
    CHECK(plain != first);
    OK(cuMemAllocAsync(&second, 4096, b));
    CHECK(second == first);
    OK(cuMemsetD8Async(second, 2, 4096, b));
    OK(cuStreamSynchronize(b));
    OK(cuStreamQuery(a));
    CHECK(((unsigned char *)second)[4095] == 2);
    OK(cuMemFreeAsync(second, b));
    OK(cuStreamSynchronize(b));
    OK(cuMemFree(plain));
    OK(cuStreamDestroy(b));
}

static void test_pool(void)
{
    CUstream a = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr first, second;
    OK(cuMemAllocAsync(&first, 4096, a));
    OK(cuMemFreeAsync(first, a));
    OK(cuMemAllocAsync(&second, 4096, a));
    CHECK(first == second);
    OK(cuMemFreeAsync(second, a));
    IS(cuMemFreeAsync(second, a), CUDA_ERROR_INVALID_VALUE);
    test_pool_of_peer(a);
    test_pool_between(a);
    OK(cuStreamDestroy(a));
}

/* ---- section 3 ---- */
typedef CUresult capture_call(CUstream capturing);

static CUevent event;
static CUstream other;
static CUgraph empty_graph;
static void *pinned_page, *pageable_page;

static void CUDA_CB nothing(void *unused)
{
    (void)unused;
}

static CUresult call_legacy_copy(CUstream s)
{
    (void)s;
    return cuMemcpyHtoD(device, pageable_page, 64);
}
static CUresult call_legacy_async(CUstream s)
{
    (void)s;
    return cuMemcpyHtoDAsync(device, pinned_page, 64, NULL);
}
static CUresult call_legacy_record(CUstream s)
{
    (void)s;
    return cuEventRecord(event, NULL);
}
static CUresult call_own_copy(CUstream s)
{
    return cuMemcpyHtoDAsync(device, pageable_page, 64, s);
}
static CUresult call_own_batch(CUstream s)
{
    return batch(device, (CUdeviceptr)(uintptr_t)pinned_page, 64, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
                 s);
}
static CUresult call_event_query(CUstream s)
{
    (void)s;
    return cuEventQuery(event);
}
static CUresult call_malloc(CUstream s)
{
    CUdeviceptr p;
    (void)s;
    return cuMemAlloc(&p, 64);
}
static CUresult call_own_sync(CUstream s)
{
    return cuStreamSynchronize(s);
}
static CUresult call_device_sync(CUstream s)
{
    (void)s;
    return cuCtxSynchronize();
}
static CUresult call_other_sync(CUstream s)
{
    (void)s;
    return cuStreamSynchronize(other);
}
static CUresult call_other_work(CUstream s)
{
    CUstreamCaptureStatus status;
    (void)s;
    CUresult result = cuLaunchHostFunc(other, nothing, NULL);
    result = result ? result : cuMemcpyHtoDAsync(device, pinned_page, 64, other);
    result = result ? result : cuStreamIsCapturing(other, &status);
    return result;
}

static CUresult call_instantiate(CUstream s)
{
    CUgraphExec exec;
    (void)s;
    CUresult result = cuGraphInstantiate(&exec, empty_graph, 0);
    return result ? result : cuGraphExecDestroy(exec);
}
static CUresult call_alloc_async(CUstream s)
{
    CUdeviceptr p;
    (void)s;
    CUresult result = cuMemAllocAsync(&p, 64, other);
    return result ? result : cuMemFreeAsync(p, other);
}
static CUresult call_own_flags(CUstream s)
{
    unsigned flags;
    return cuStreamGetFlags(s, &flags);
}
static CUresult call_own_context(CUstream s)
{
    CUcontext current;
    return cuStreamGetCtx(s, &current);
}
static CUresult call_legacy_id(CUstream s)
{
    unsigned long long id;
    (void)s;
    return cuStreamGetId(NULL, &id);
}

static const struct capture_row {
    capture_call *call;
    int blocking[3][2]; /* result of the call and of the end: Global, ThreadLocal, Relaxed */
    int non_blocking[3][2];
} capture_rows[] = {
    {call_legacy_copy, {{906, 901}, {906, 901}, {906, 901}}, {{0, 0}, {0, 0}, {0, 0}}},
    {call_legacy_async, {{906, 901}, {906, 901}, {906, 901}}, {{0, 0}, {0, 0}, {0, 0}}},
    {call_legacy_record, {{906, 901}, {906, 901}, {906, 901}}, {{0, 0}, {0, 0}, {0, 0}}},
    {call_own_copy, {{0, 0}, {0, 0}, {0, 0}}, {{0, 0}, {0, 0}, {0, 0}}},
    {call_own_batch, {{900, 0}, {900, 0}, {900, 0}}, {{900, 0}, {900, 0}, {900, 0}}},
    {call_event_query, {{900, 901}, {900, 901}, {0, 0}}, {{900, 901}, {900, 901}, {0, 0}}},
    {call_malloc, {{900, 901}, {900, 901}, {0, 0}}, {{900, 901}, {900, 901}, {0, 0}}},
    {call_own_sync, {{900, 901}, {900, 901}, {900, 901}}, {{900, 901}, {900, 901}, {900, 901}}},
    {call_device_sync, {{900, 901}, {900, 901}, {900, 901}}, {{900, 901}, {900, 901}, {900, 901}}},
    {call_other_sync, {{900, 901}, {900, 901}, {0, 0}}, {{900, 901}, {900, 901}, {0, 0}}},
    {call_other_work, {{0, 0}, {0, 0}, {0, 0}}, {{0, 0}, {0, 0}, {0, 0}}},
    {call_instantiate, {{900, 901}, {900, 901}, {0, 0}}, {{900, 901}, {900, 901}, {0, 0}}},
    {call_alloc_async, {{900, 901}, {900, 901}, {0, 0}}, {{900, 901}, {900, 901}, {0, 0}}},
    {call_own_flags, {{900, 901}, {900, 901}, {900, 901}}, {{900, 901}, {900, 901}, {900, 901}}},
    {call_own_context, {{0, 0}, {0, 0}, {0, 0}}, {{0, 0}, {0, 0}, {0, 0}}},
    {call_legacy_id, {{906, 901}, {906, 901}, {906, 901}}, {{0, 0}, {0, 0}, {0, 0}}},
};

static void capture_row(size_t row, unsigned flags, CUstreamCaptureMode mode, const int want[2])
{
    CUstream stream = stream_new(flags);
    CUgraph graph = NULL;
    OK(cuCtxSynchronize());
    OK(cuStreamBeginCapture(stream, mode));
    CUresult called = capture_rows[row].call(stream);
    CUresult ended = cuStreamEndCapture(stream, &graph);
    if ((int)called != want[0] || (int)ended != want[1]) {
        fprintf(stderr, "selftest.c: capture row %zu flags %u mode %d: %d/%d, not %d/%d\n", row,
                flags, (int)mode, called, ended, want[0], want[1]);
        failures++;
    }
    CHECK((graph != NULL) == (ended == CUDA_SUCCESS));
    if (graph)
        OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
}

static void *query_event(void *unused)
{
    (void)unused;
    OK(cuCtxSetCurrent(context));
    IS(cuEventQuery(event), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    OK(cuEventQuery(event));
    return NULL;
}

static void *end_anothers(void *stream)
{
    CUgraph graph;
    OK(cuCtxSetCurrent(context));
    IS(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    CHECK(!graph);
    return NULL;
}

static void test_capture_ends(void)
{
    CUstream stream = stream_new(CU_STREAM_DEFAULT), side = stream_new(CU_STREAM_DEFAULT);
    CUevent captured;
    CUgraph graph;
    int priority;
    pthread_t thread;
    OK(cuEventCreate(&captured, 0));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventRecord(captured, stream));
    pthread_create(&thread, NULL, end_anothers, stream);
    pthread_join(thread, NULL);
    IS(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    IS(cuEventQuery(captured), CUDA_ERROR_INVALID_VALUE);
    IS(cuEventSynchronize(captured), CUDA_ERROR_INVALID_VALUE);
    IS(cuStreamWaitEvent(side, captured, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuEventRecord(captured, stream));
    OK(cuEventSynchronize(captured));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuStreamGetPriority(stream, &priority));
    IS(cuStreamGetPriority(CU_STREAM_LEGACY, &priority), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    IS(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuEventDestroy(captured));
    OK(cuStreamDestroy(stream));
    OK(cuStreamDestroy(side));
}

static void test_capture(void)
{
    CUstream stream = stream_new(CU_STREAM_DEFAULT);
    CUstreamCaptureStatus status;
    CUgraph graph;
    pthread_t thread;
    OK(cuEventCreate(&event, 0));
    OK(cuMemAllocHost(&pinned_page, 4096));
    pageable_page = calloc(1, 4096);
    other = stream_new(CU_STREAM_NON_BLOCKING);
    OK(cuGraphCreate(&empty_graph, 0));
    for (size_t row = 0; row < sizeof capture_rows / sizeof capture_rows[0]; row++) {
        for (int mode = 0; mode < 3; mode++) {
            CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
                                           CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                           CU_STREAM_CAPTURE_MODE_RELAXED};
            capture_row(row, CU_STREAM_DEFAULT, modes[mode], capture_rows[row].blocking[mode]);
            capture_row(row, CU_STREAM_NON_BLOCKING, modes[mode],
                        capture_rows[row].non_blocking[mode]);
        }
    }
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    IS(cuStreamIsCapturing(CU_STREAM_LEGACY, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphDestroy(graph));
    OK(cuCtxSynchronize());
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    pthread_create(&thread, NULL, query_event, NULL);
    pthread_join(thread, NULL);
    IS(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuStreamDestroy(stream));
}

/* ---- graphs ---- */
static void test_graph(void)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING), side = stream_new(CU_STREAM_NON_BLOCKING);
    unsigned char *pinned = host_new(PINNED, 4096), *heap = host_new(PAGEABLE, 4096);
    CUevent fork_event, join_event;
    CUgraph graph;
    CUgraphExec exec;
    size_t nodes = 0;
    OK(cuEventCreate(&fork_event, 0));
    OK(cuEventCreate(&join_event, 0));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemcpyHtoDAsync(device, pinned, 4096, stream));
    OK(cuEventRecord(fork_event, stream));
    OK(cuStreamWaitEvent(side, fork_event, 0));
    OK(cuMemcpyHtoDAsync(device2, heap, 4096, side));
    OK(cuEventRecord(join_event, side));
    IS(cuEventQuery(join_event), CUDA_ERROR_CAPTURED_EVENT);
    IS(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemcpyHtoDAsync(device, pinned, 4096, stream));
    OK(cuEventRecord(fork_event, stream));
    OK(cuStreamWaitEvent(side, fork_event, 0));
    OK(cuMemcpyHtoDAsync(device2, heap, 4096, side));
    OK(cuEventRecord(join_event, side));
    OK(cuStreamWaitEvent(stream, join_event, 0));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, NULL, &nodes));
    CHECK(nodes == 2);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    memset(pinned, 1, 4096);
    memset(heap, 1, 4096);
    occupy(stream);
    OK(cuGraphLaunch(exec, stream));
    memset(pinned, 2, 4096);
    memset(heap, 2, 4096);
    OK(cuStreamSynchronize(stream));
    CHECK(device_byte(device) == 2);  /* pinned: read when the node runs */
    CHECK(device_byte(device2) == 1); /* pageable: read at the launch */
    OK(cuGraphExecDestroy(exec));
    OK(cuStreamDestroy(stream));
    OK(cuStreamDestroy(side));
    host_free(PINNED, pinned);
    host_free(PAGEABLE, heap);
}

/* What a graph of one copy does with host memory: when the launch returns, and what arrives. */
static CUgraphExec copy_exec(CUstream stream, CUdeviceptr to, CUdeviceptr from, size_t size)
{
    CUgraphExec exec = NULL;
    CUgraph graph;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemcpyAsync(to, from, size, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    return exec;
}

static void launch_download(enum kind kind, int blocks)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    unsigned char *p = host_new(kind, 4096);
    CUgraphExec exec = copy_exec(stream, (CUdeviceptr)(uintptr_t)p, device, 4096);
    memset(p, 1, 4096);
    OK(cuMemsetD8(device, 2, 4096));
    OK(cuCtxSynchronize());
    hold_back(stream, blocks);
    OK(cuGraphLaunch(exec, stream));
    CHECK(has_waited() == blocks);
    CHECK(p[4095] == (blocks ? 2 : 1));
    open_gate();
    OK(cuStreamSynchronize(stream));
    CHECK(p[4095] == 2);
    OK(cuGraphExecDestroy(exec));
    host_free(kind, p);
    OK(cuStreamDestroy(stream));
}

/* Each launch stages a pageable source for itself; launches of one exec never overlap. */
static void test_launch_twice(void)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING), side = stream_new(CU_STREAM_NON_BLOCKING);
    unsigned char *p = host_new(PAGEABLE, 4096);
    CUgraphExec exec = copy_exec(stream, device, (CUdeviceptr)(uintptr_t)p, 4096);
    memset(p, 1, 4096);
    occupy(stream);
    OK(cuGraphLaunch(exec, stream));
    OK(cuMemcpyDtoDAsync(device2, device, 4096, stream));
    OK(cuStreamSynchronize(stream));
    occupy(stream);
    OK(cuGraphLaunch(exec, stream));
    memset(p, 2, 4096);
    OK(cuGraphLaunch(exec, side));
    memset(p, 3, 4096);
    OK(cuStreamSynchronize(side));
    CHECK(device_byte(device2) == 1);
    CHECK(device_byte(device) == 2);
    IS(cuStreamQuery(stream), CUDA_SUCCESS); /* the second launch waited for the first */
    OK(cuGraphExecDestroy(exec));
    OK(cuStreamDestroy(stream));
    OK(cuStreamDestroy(side));
    host_free(PAGEABLE, p);
}

static void test_child_set(void)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = device, .elementSize = 1, .value = 1, .width = 16, .height = 1};
    CUgraph child, outer, empty;
    CUgraphNode node, child_node;
    CUgraphExec exec;
    OK(cuGraphCreate(&child, 0));
    OK(cuGraphCreate(&outer, 0));
    OK(cuGraphCreate(&empty, 0));
    OK(cuGraphAddMemsetNode(&node, child, NULL, 0, &fill, context));
    OK(cuGraphAddChildGraphNode(&child_node, outer, NULL, 0, child));
    OK(cuGraphInstantiate(&exec, outer, 0));
    fill.value = 7;
    OK(cuGraphMemsetNodeSetParams(node, &fill));
    OK(cuGraphExecChildGraphNodeSetParams(exec, child_node, child));
    IS(cuGraphExecChildGraphNodeSetParams(exec, child_node, empty), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    CHECK(device_byte(device) == 7);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(outer));
    OK(cuGraphDestroy(child));
    OK(cuGraphDestroy(empty));
    OK(cuStreamDestroy(stream));
}

/* A conditional node with two bodies, which set the device's first byte to 3 and 5. */
static CUgraphNode add_choice(CUgraph graph, CUgraphConditionalNodeType type_of_node,
                              unsigned value, CUgraph *bodies)
{
    CUgraphNode node = NULL, fill_node;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = device, .elementSize = 1, .width = 16, .height = 1};
    params.conditional.type = type_of_node;
    params.conditional.size = 2;
    params.conditional.ctx = context;
    OK(cuGraphConditionalHandleCreate(&params.conditional.handle, graph, context, value,
                                      CU_GRAPH_COND_ASSIGN_DEFAULT));
    OK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    for (unsigned i = 0; i < 2; i++) {
        bodies[i] = params.conditional.phGraph_out[i];
        fill.value = 3 + 2 * i;
        OK(cuGraphAddMemsetNode(&fill_node, bodies[i], NULL, 0, &fill, context));
    }
    return node;
}

static void test_condition(void)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUgraph graph, outer, bodies[2];
    CUgraphNode node;
    CUgraphNodeType type;
    CUgraphExec exec;
    for (unsigned value = 0; value < 2; value++) {
        OK(cuGraphCreate(&graph, 0));
        CUgraphNode chooses = add_choice(graph, CU_GRAPH_COND_TYPE_IF, value, bodies);
        OK(cuGraphNodeGetType(chooses, &type));
        CHECK(type == CU_GRAPH_NODE_TYPE_CONDITIONAL);
        OK(cuGraphInstantiate(&exec, graph, 0));
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        CHECK(device_byte(device) == (value ? 3 : 5));
        OK(cuGraphExecDestroy(exec));
        IS(cuGraphClone(&outer, graph), CUDA_ERROR_NOT_SUPPORTED);
        OK(cuGraphCreate(&outer, 0));
        IS(cuGraphAddChildGraphNode(&node, outer, NULL, 0, graph), CUDA_ERROR_NOT_SUPPORTED);
        OK(cuGraphDestroy(outer));
        OK(cuGraphDestroyNode(chooses));
        OK(cuGraphDestroy(graph));
    }
    OK(cuStreamDestroy(stream));
}

static void test_switch(void)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUgraph graph, bodies[2];
    CUgraphExec exec;
    for (unsigned value = 0; value < 3; value++) {
        OK(cuMemsetD8(device, 9, 1));
        OK(cuCtxSynchronize());
        OK(cuGraphCreate(&graph, 0));
        add_choice(graph, CU_GRAPH_COND_TYPE_SWITCH, value, bodies);
        OK(cuGraphInstantiate(&exec, graph, 0));
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        CHECK(device_byte(device) == (int)(value < 2 ? 3 + 2 * value : 9));
        OK(cuGraphExecDestroy(exec));
        OK(cuGraphDestroy(graph));
    }
    OK(cuStreamDestroy(stream));
}

/* A loop whose body sets the device's first byte to 7, and counts its condition down. */
static CUresult add_while(CUgraph graph, unsigned value, unsigned size, bool counts)
{
    CUgraphNode node;
    CUgraphConditionalHandle handle;
    void *parameters[] = {&handle};
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = count_down,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = parameters};
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = device, .value = 7, .elementSize = 1, .width = 16, .height = 1};
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    params.conditional.size = size;
    params.conditional.ctx = context;
    OK(cuGraphConditionalHandleCreate(&params.conditional.handle, graph, context, value,
                                      CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUresult result = cuGraphAddNode(&node, graph, NULL, NULL, 0, &params);
    if (result != CUDA_SUCCESS)
        return result;
    CUgraph body = params.conditional.phGraph_out[0];
    handle = params.conditional.handle;
    OK(cuGraphAddMemsetNode(&node, body, NULL, 0, &fill, context));
    if (counts)
        OK(cuGraphAddKernelNode_v2(&node, body, NULL, 0, &kernel));
    return result;
}

static CUresult launch_while(unsigned value, bool counts)
{
    CUgraph graph;
    CUgraphExec exec;
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    OK(cuMemsetD8(device, 9, 1));
    OK(cuCtxSynchronize());
    OK(cuGraphCreate(&graph, 0));
    OK(add_while(graph, value, 1, counts));
    OK(cuGraphInstantiate(&exec, graph, 0));
    CUresult result = cuGraphLaunch(exec, stream);
    OK(cuStreamSynchronize(stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
    return result;
}

static void test_while(void)
{
    CUgraph graph;
    OK(cuGraphCreate(&graph, 0));
    IS(add_while(graph, 0, 2, false), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
    OK(launch_while(0, true));
    CHECK(device_byte(device) == 9);
    OK(launch_while(3, true));
    CHECK(device_byte(device) == 7);
    IS(launch_while(3, false), CUDA_ERROR_NOT_SUPPORTED);
}

/* A node of a body is changed in the exec alone, by its own name. */
static void test_change_in_body(void)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUgraph graph, bodies[2];
    CUgraphNode node;
    CUgraphExec exec;
    size_t count = 1;
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = device, .value = 11, .elementSize = 1, .width = 16, .height = 1};
    OK(cuGraphCreate(&graph, 0));
    add_choice(graph, CU_GRAPH_COND_TYPE_IF, 1, bodies);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphGetNodes(bodies[0], &node, &count));
    OK(cuGraphExecMemsetNodeSetParams(exec, node, &fill, context));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    CHECK(device_byte(device) == 11);
    OK(cuGraphExecUpdate_v2(exec, graph, &(CUgraphExecUpdateResultInfo){0}));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    CHECK(device_byte(device) == 3);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
}

/* ---- external semaphores ---- */

/* The word stays the test's, too. */
static CUexternalSemaphore import_semaphore(CUexternalSemaphoreHandleType type,
                                            _Atomic uint64_t **word)
{
    CUexternalSemaphore semaphore = NULL;
    int file = memfd_create("semaphore", 0);
    CHECK(ftruncate(file, sizeof **word) == 0);
    *word = mmap(NULL, sizeof **word, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {.type = type, .handle.fd = file};
    OK(cuImportExternalSemaphore(&semaphore, &desc));
    return semaphore;
}

static void test_semaphores(void)
{
    _Atomic uint64_t *timeline, *binary;
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUexternalSemaphore semaphores[2] = {
        import_semaphore(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD, &timeline),
        import_semaphore(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, &binary)};
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signals[2] = {{.params.fence.value = 5}};
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS waits[2] = {{.params.fence.value = 7}};

    OK(cuSignalExternalSemaphoresAsync(semaphores, signals, 2, stream));
    OK(cuStreamSynchronize(stream));
    CHECK(atomic_load(timeline) == 5 && atomic_load(binary) == 1);
    OK(cuWaitExternalSemaphoresAsync(semaphores, waits, 2, stream));
    usleep(BUSY_MS * 1000);
    IS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    atomic_store(timeline, 8);
    OK(cuStreamSynchronize(stream));
    CHECK(atomic_load(timeline) == 8 && atomic_load(binary) == 0);

    CUexternalSemaphore none = NULL;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {.type =
                                                    CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC};
    IS(cuImportExternalSemaphore(&none, &desc), CUDA_ERROR_NOT_SUPPORTED);
    desc.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
    desc.handle.fd = -1;
    IS(cuImportExternalSemaphore(&none, &desc), CUDA_ERROR_OPERATING_SYSTEM);
    IS(cuSignalExternalSemaphoresAsync(&none, signals, 1, stream), CUDA_ERROR_INVALID_HANDLE);
    for (unsigned i = 0; i < 2; i++)
        OK(cuDestroyExternalSemaphore(semaphores[i]));
    OK(cuStreamDestroy(stream));
}

/* A graph that was captured waits and signals; its nodes are changed in the exec. */
static void test_semaphore_nodes(void)
{
    _Atomic uint64_t *timeline;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[2];
    size_t count = 2;
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUexternalSemaphore semaphore =
        import_semaphore(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD, &timeline);
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {.params.fence.value = 2};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {.params.fence.value = 1};
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, stream));
    OK(cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, nodes, &count));
    CHECK(count == 2);
    CUDA_EXT_SEM_WAIT_NODE_PARAMS waits;
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signals;
    OK(cuGraphExternalSemaphoresWaitNodeGetParams(nodes[0], &waits));
    OK(cuGraphExternalSemaphoresSignalNodeGetParams(nodes[1], &signals));
    CHECK(waits.numExtSems == 1 && waits.extSemArray[0] == semaphore);
    CHECK(waits.paramsArray[0].params.fence.value == 1);
    CHECK(signals.numExtSems == 1 && signals.paramsArray[0].params.fence.value == 2);
    IS(cuGraphExternalSemaphoresWaitNodeGetParams(nodes[1], &waits), CUDA_ERROR_INVALID_VALUE);

    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    usleep(BUSY_MS * 1000);
    CHECK(atomic_load(timeline) == 0);
    atomic_store(timeline, 1);
    OK(cuStreamSynchronize(stream));
    CHECK(atomic_load(timeline) == 2);

    wait.params.fence.value = 2;
    signal.params.fence.value = 3;
    OK(cuGraphExecExternalSemaphoresWaitNodeSetParams(
        exec, nodes[0], &(CUDA_EXT_SEM_WAIT_NODE_PARAMS){&semaphore, &wait, 1}));
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL};
    params.extSemSignal = (CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2){&semaphore, &signal, 1};
    OK(cuGraphExecNodeSetParams(exec, nodes[1], &params));
    OK(cuGraphDestroy(graph));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    CHECK(atomic_load(timeline) == 3);
    OK(cuGraphExecDestroy(exec));
    OK(cuDestroyExternalSemaphore(semaphore));
    OK(cuStreamDestroy(stream));
}

/* ---- batch memory operations ---- */
static CUstreamBatchMemOpParams word_op(CUstreamBatchMemOpType operation, volatile uint32_t *word,
                                        uint32_t value)
{
    CUstreamBatchMemOpParams params = {.operation = operation};
    params.waitValue.address = (CUdeviceptr)(uintptr_t)word;
    params.waitValue.value = value;
    params.waitValue.flags =
        operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ? CU_STREAM_WAIT_VALUE_GEQ : 0;
    return params;
}

/* A node waits for one word and writes another. */
static void test_memory_op_nodes(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node, last;
    CUDA_BATCH_MEM_OP_NODE_PARAMS told;
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    volatile uint32_t *words;
    OK(cuMemHostAlloc((void **)(uintptr_t)&words, 4096, 0));
    words[0] = words[1] = words[2] = 0;
    CUstreamBatchMemOpParams list[2] = {word_op(CU_STREAM_MEM_OP_WAIT_VALUE_32, &words[0], 1),
                                        word_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, &words[1], 2)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {.ctx = context, .count = 2, .paramArray = list};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    OK(cuGraphBatchMemOpNodeGetParams(node, &told));
    CHECK(told.count == 2 && told.paramArray != list);
    CHECK(told.paramArray[1].writeValue.address == list[1].writeValue.address);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    usleep(BUSY_MS * 1000);
    IS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    CHECK(words[1] == 0);
    words[0] = 1;
    OK(cuStreamSynchronize(stream));
    CHECK(words[1] == 2);

    /* An exec's operations may have other addresses and values, and be no others. */
    list[1] = word_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, &words[2], 3);
    OK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    params.count = 1;
    IS(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphBatchMemOpNodeSetParams(node, &params));
    params.count = 2;
    list[0] = list[1];
    IS(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    CHECK(words[1] == 2 && words[2] == 3);
    OK(cuGraphBatchMemOpNodeGetParams(node, &told));
    CHECK(told.count == 1);
    OK(cuGraphExecDestroy(exec));

    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP};
    list[0] = word_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, &words[1], 4);
    any.memOp.ctx = context;
    any.memOp.count = 1;
    any.memOp.paramArray = list;
    OK(cuGraphAddNode(&last, graph, &node, NULL, 1, &any));
    OK(cuGraphInstantiate(&exec, graph, 0));
    list[0].writeValue.value = 5;
    OK(cuGraphExecNodeSetParams(exec, last, &any));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    CHECK(words[1] == 5);
    any.memOp.count = 0;
    IS(cuGraphNodeSetParams(last, &any), CUDA_ERROR_INVALID_VALUE);
    list[0].writeValue.address++;
    any.memOp.count = 1;
    IS(cuGraphNodeSetParams(last, &any), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuMemFreeHost((void *)(uintptr_t)words));
    OK(cuStreamDestroy(stream));
}

/* ---- user objects ---- */
struct thing {
    _Atomic int ended;
    pthread_t thread;
    CUresult permitted;
};

static void CUDA_CB end_thing(void *arg)
{
    struct thing *thing = arg;
    CUcontext current;
    thing->thread = pthread_self();
    thing->permitted = cuCtxGetCurrent(&current);
    atomic_fetch_add(&thing->ended, 1);
}

static int ends(struct thing *thing, int within_ms)
{
    double until = now_ms() + within_ms;
    while (!atomic_load(&thing->ended) && now_ms() < until)
        usleep(500);
    return atomic_load(&thing->ended);
}

static CUuserObject object_new(struct thing *thing, unsigned refs)
{
    CUuserObject object = NULL;
    *thing = (struct thing){0};
    OK(cuUserObjectCreate(&object, thing, end_thing, refs, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return object;
}

/* The exec's reference outlives graph and exec, until the last launch is done. */
static void test_object_of_exec(void)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    struct thing thing;
    CUuserObject object = object_new(&thing, 2);
    CUgraph graph;
    CUgraphExec exec;
    OK(cuUserObjectRelease(object, 1));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    occupy(stream);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphRetainUserObject(graph, object, 1, 0));
    OK(cuUserObjectRelease(object, 1));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    CHECK(!ends(&thing, 5));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecDestroy(exec));
    CHECK(!ends(&thing, BUSY_MS / 2) || cuStreamQuery(stream) == CUDA_SUCCESS);
    OK(cuStreamSynchronize(stream));
    CHECK(ends(&thing, 60000));
    CHECK(!pthread_equal(thing.thread, pthread_self()));
    CHECK(thing.permitted == CUDA_ERROR_NOT_PERMITTED);
    OK(cuStreamDestroy(stream));
}

static void test_object_of_graphs(void)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUstreamCaptureStatus status;
    cuuint64_t id;
    struct thing thing;
    CUuserObject object = object_new(&thing, 1);
    CUgraph graph, clone;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphDestroy(graph));
    CHECK(!ends(&thing, 5));
    OK(cuGraphRetainUserObject(clone, object, 1, 0));
    OK(cuGraphReleaseUserObject(clone, object, 1));
    CHECK(!ends(&thing, 5));
    IS(cuGraphReleaseUserObject(clone, object, 2), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphReleaseUserObject(clone, object, 1));
    CHECK(ends(&thing, 60000));
    OK(cuGraphDestroy(clone));
    usleep(5000);
    CHECK(ends(&thing, 0) == 1);

    object = object_new(&thing, 1);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamGetCaptureInfo(stream, &status, &id, &graph, NULL, NULL, NULL));
    OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuStreamEndCapture(stream, &clone));
    CHECK(clone == graph && !ends(&thing, 5));
    OK(cuGraphDestroy(graph));
    CHECK(ends(&thing, 60000));
    OK(cuStreamDestroy(stream));
}

static void test_user_objects(void)
{
    CUuserObject object;
    struct thing thing;
    IS(cuUserObjectCreate(&object, &thing, end_thing, 1, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuUserObjectCreate(&object, &thing, NULL, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
       CUDA_ERROR_INVALID_VALUE);
    object = object_new(&thing, 1);
    OK(cuUserObjectRetain(object, 2));
    OK(cuUserObjectRelease(object, 2));
    CHECK(!ends(&thing, 5));
    OK(cuUserObjectRelease(object, 1));
    CHECK(ends(&thing, 60000));
    test_object_of_exec();
    test_object_of_graphs();
}

/* ---- order ---- */
struct flag {
    _Atomic int set;
};

static void CUDA_CB set_flag(void *flag)
{
    usleep(5000);
    atomic_store(&((struct flag *)flag)->set, 1);
}

static CUresult permitted;

static void CUDA_CB call_driver(void *unused)
{
    CUdeviceptr p;
    (void)unused;
    permitted = cuMemAlloc(&p, 64);
}

static void test_order(void)
{
    CUstream blocking = stream_new(CU_STREAM_DEFAULT), free_running = stream_new(1);
    struct flag flag = {0};
    CUevent e;
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    OK(cuEventQuery(e));
    OK(cuLaunchHostFunc(blocking, set_flag, &flag));
    OK(cuEventRecord(e, NULL)); /* the legacy stream waits for the blocking one */
    IS(cuEventQuery(e), CUDA_ERROR_NOT_READY);
    OK(cuStreamSynchronize(free_running));
    OK(cuEventSynchronize(e));
    CHECK(flag.set == 1);

    flag.set = 0;
    OK(cuLaunchHostFunc(NULL, set_flag, &flag));
    OK(cuMemsetD8Async(device, 1, 64, CU_STREAM_PER_THREAD));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD)); /* which is a blocking stream */
    CHECK(flag.set == 1);

    flag.set = 0;
    OK(cuLaunchHostFunc(blocking, set_flag, &flag));
    OK(cuEventRecord(e, blocking));
    OK(cuStreamWaitEvent(free_running, e, 0));
    OK(cuEventRecord(e, free_running)); /* does not move what was waited for */
    OK(cuEventDestroy(e));
    OK(cuStreamDestroy(blocking)); /* its work goes on */
    OK(cuStreamSynchronize(free_running));
    CHECK(flag.set == 1);
    OK(cuLaunchHostFunc(free_running, call_driver, NULL));
    OK(cuStreamSynchronize(free_running));
    CHECK(permitted == CUDA_ERROR_NOT_PERMITTED);
    OK(cuStreamDestroy(free_running));
}

/* A synchronous copy between two devices comes after all that was queued there, and before all that
 * will be. */
static void test_serialized(void)
{
    CUcontext second;
    CUdeviceptr peer;
    int devices = 0;
    OK(cuDeviceGetCount(&devices));
    if (devices < 2)
        return;
    CUstream before = stream_new(CU_STREAM_NON_BLOCKING);
    OK(cuMemsetD8(device, 1, 1));
    OK(cuCtxSynchronize());
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    OK(cuCtxSetCurrent(second));
    OK(cuMemAlloc(&peer, 1));
    OK(cuMemsetD8(peer, 1, 1));
    CUstream behind = stream_new(CU_STREAM_NON_BLOCKING);
    OK(cuCtxSynchronize());
    OK(cuCtxSetCurrent(context));

    shut_gate(before);
    OK(cuMemsetD8Async(device, 2, 1, before));
    OK(cuMemcpyPeer(peer, second, device, context, 1));
    OK(cuCtxSetCurrent(second));
    OK(cuMemsetD8Async(device, 3, 1, behind));
    IS(cuStreamQuery(behind), CUDA_ERROR_NOT_READY);
    CHECK(device_byte(peer) == 1 && device_byte(device) == 1);
    open_gate();
    OK(cuStreamSynchronize(behind));
    CHECK(device_byte(device) == 3 && device_byte(peer) == 2);
    OK(cuStreamDestroy(behind));
    OK(cuMemFree(peer));
    OK(cuCtxSetCurrent(context));
    OK(cuStreamDestroy(before));
    OK(cuDevicePrimaryCtxRelease(1));
}

/* An event that is recorded behind work which is done is complete when the call returns, however
 * soon after the work that is, and does not hold up another stream. */
static void test_record_behind_done(int late)
{
    enum { ROUNDS = 2000 };
    CUstream stream = stream_new(1), behind = stream_new(1);
    CUevent e;
    int incomplete = 0, held_up = 0;
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2 == 0)
            OK(cuMemsetD8Async(device, 1, 64, stream));
        else
            OK(cuLaunchHostFunc(stream, nothing, NULL));
        if (late)
            OK(cuStreamSynchronize(stream));
        while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) {
        }
        OK(cuEventRecord(e, stream));
        incomplete += cuEventQuery(e) != CUDA_SUCCESS;
        OK(cuStreamWaitEvent(behind, e, 0));
        held_up += cuStreamQuery(behind) != CUDA_SUCCESS;
    }
    CHECK(incomplete == 0);
    CHECK(held_up == 0);
    OK(cuEventDestroy(e));
    OK(cuStreamDestroy(stream));
    OK(cuStreamDestroy(behind));
}

/* Asking about the legacy stream orders nothing, waiting for it waits for the blocking streams. */
static void test_legacy_query(void)
{
    CUstream a = stream_new(CU_STREAM_DEFAULT), b = stream_new(CU_STREAM_DEFAULT);
    occupy(a);
    IS(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    OK(cuMemsetD8Async(device, 1, 64, b));
    OK(cuStreamSynchronize(b));
    IS(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
    OK(cuStreamSynchronize(NULL));
    OK(cuStreamQuery(a));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
}

static void test_values(void)
{
    CUstream a = stream_new(1), b = stream_new(1);
    void *word = host_new(PINNED, 64);
    memset(word, 0, 64);
    OK(cuStreamWaitValue32(a, (CUdeviceptr)(uintptr_t)word, 7, CU_STREAM_WAIT_VALUE_EQ));
    usleep(2000);
    IS(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
    OK(cuStreamWriteValue32(b, (CUdeviceptr)(uintptr_t)word, 7, 0));
    OK(cuStreamSynchronize(b));
    OK(cuStreamSynchronize(a));
    host_free(PINNED, word);
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
}

static void test_many(void)
{
    enum { STREAMS = 256, OPERATIONS = 100000 };
    static CUstream streams[STREAMS];
    unsigned char *host = host_new(PINNED, 64);
    CUevent e;
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < STREAMS; i++)
        streams[i] = stream_new(i % 2);
    for (int i = 0; i < OPERATIONS; i++) {
        CUstream s = streams[i % STREAMS];
        OK(cuMemcpyHtoDAsync(device, host, 64, s));
        if (i % 7 == 0) {
            OK(cuEventRecord(e, s));
            OK(cuStreamWaitEvent(streams[(i * 31) % STREAMS], e, 0));
        }
    }
    OK(cuCtxSynchronize());
    for (int i = 0; i < STREAMS; i++) {
        OK(cuStreamQuery(streams[i]));
        OK(cuStreamDestroy(streams[i]));
    }
    OK(cuEventDestroy(e));
    host_free(PINNED, host);
}

static void test_attributes(void)
{
    unsigned char *pinned = host_new(PINNED, 100);
    CUmemorytype type = 0;
    CUdeviceptr base;
    size_t size;
    int managed = -1;
    CUcontext owner = NULL;
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_CONTEXT,
                                   CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void *values[] = {&type, &owner, &managed};
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device));
    CHECK(type == CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttributes(3, names, values, (CUdeviceptr)(uintptr_t)(pinned + 5)));
    CHECK(type == CU_MEMORYTYPE_HOST && owner == context && managed == 0);
    IS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                             (CUdeviceptr)(uintptr_t)&type),
       CUDA_ERROR_INVALID_VALUE);
    OK(cuPointerGetAttributes(3, names, values, (CUdeviceptr)(uintptr_t)&type));
    CHECK(type == 0 && !owner);
    OK(cuMemGetAddressRange(&base, &size, device + 5));
    CHECK(base == device && size == 64 * MB);
    host_free(PINNED, pinned);
}

/* ---- look-up ---- */
extern __typeof__(cuMemcpyHtoDAsync) cuMemcpyHtoDAsync_v2_ptsz;
extern CUresult cuStreamGetCtx_v2_ptsz(CUstream, CUcontext *, CUgreenCtx *);

static void *look_up(const char *name, int version, cuuint64_t flags, int want)
{
    void *address = &failures;
    CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)99;
    OK(cuGetProcAddress_v2(name, &address, version, flags, &status));
    CHECK((int)status == want);
    CHECK((address != NULL) == (want == CU_GET_PROC_ADDRESS_SUCCESS));
    return address;
}

static void test_look_up(void)
{
    void *address;
    CHECK(look_up("cuMemcpyHtoDAsync", 12000, 0, 0) == (void *)(uintptr_t)cuMemcpyHtoDAsync);
    CHECK(look_up("cuMemcpyHtoDAsync", 12000, 2, 0) ==
          (void *)(uintptr_t)cuMemcpyHtoDAsync_v2_ptsz);
    CHECK(look_up("cuMemcpyHtoDAsync", 2000, 0, 0) != (void *)(uintptr_t)cuMemcpyHtoDAsync);
    CHECK(look_up("cuStreamGetCtx", 12050, 2, 0) == (void *)(uintptr_t)cuStreamGetCtx_v2_ptsz);
    CHECK(look_up("cuMemAlloc", 12000, 2, 0) == (void *)(uintptr_t)cuMemAlloc);
    look_up("cuMemcpyBatchAsync", 12000, 0, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    look_up("cuMemcpyHtoDAsync_v2", 12000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    look_up("cuNoSuchThing", 12000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    IS(cuGetProcAddress_v2("cuNoSuchThing", &address, 12000, 0, NULL), CUDA_ERROR_NOT_FOUND);
}

static void test_fork(void)
{
    pid_t child = fork();
    if (child == 0) {
        CUdeviceptr p;
        int good = cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                   cuMemAlloc(&p, 64) == CUDA_ERROR_NOT_INITIALIZED &&
                   cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED;
        exit(good ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void start(void)
{
    CUdevice dev;
    CUmodule module;
    IS(cuStreamSynchronize(NULL), CUDA_ERROR_NOT_INITIALIZED);
    OK(cuInit(0));
    OK(cuDeviceGet(&dev, 0));
    OK(cuDevicePrimaryCtxRetain(&context, dev));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, ""));
    OK(cuModuleGetFunction(&spin, module, "spin"));
    OK(cuModuleGetFunction(&count_down, module, "count_down"));
    OK(cuMemAlloc(&device, 64 * MB));
    OK(cuMemAlloc(&device2, 64 * MB));
}

static int run_all(void)
{
    int late = strstr(getenv("SIM_GPU"), "late=1") != NULL;
    start();
    test_uploads(strstr(getenv("SIM_GPU"), "late_batch=1") != NULL);
    test_downloads();
    test_sync_upload(late);
    test_sync_turn();
    test_batch_from_freed();
    for (int is_source = 0; is_source < 2; is_source++) {
        test_batch_of_protected(PINNED, is_source);
        test_batch_of_protected(REGISTERED, is_source);
    }
    test_frees();
    test_unmap_in_flight();
    test_protection(PINNED);
    test_protection(REGISTERED);
    test_errors();
    test_pool();
    test_capture();
    test_capture_ends();
    test_graph();
    launch_download(PINNED, 0);
    launch_download(REGISTERED, 0);
    launch_download(PAGEABLE, 1);
    test_launch_twice();
    test_child_set();
    test_condition();
    test_switch();
    test_while();
    test_change_in_body();
    test_semaphores();
    test_semaphore_nodes();
    test_memory_op_nodes();
    test_user_objects();
    test_order();
    test_serialized();
    test_record_behind_done(late);
    test_legacy_query();
    test_values();
    test_many();
    test_attributes();
    test_look_up();
    test_fork();
    occupy(NULL); /* pending at exit */
    return failures != 0;
}

int main(int argc, char **argv)
{
    const char *settings[] = {"delay=50us", "delay=0", "late=1:late_limit=200ms",
                              "delay=300us:seed=7", "late_batch=1:devices=2"};
    if (argc > 1 && strcmp(argv[1], "run") == 0)
        return run_all();
    if (argc > 1) {
        start();
        die_by_batch();
        return 0;
    }
    int failed = 0;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        setenv("SIM_GPU", settings[i], 1);
        pid_t child = fork();
        if (child == 0) {
            execl("/proc/self/exe", argv[0], "run", (char *)NULL);
            _exit(127);
        }
        int status = 1;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            fprintf(stderr, "selftest: failed with SIM_GPU=%s (status %#x)\n", settings[i],
                    (unsigned)status);
            failed = 1;
        }
    }
    return failed;
}

// expect-exit: 0
// link: cuda
// needs: sim (it fills the device, on which others run)
//
// Allocations fail for want of memory, and the program goes on. With an argument the device is full
// of the program's own (full), of what a pool (pool) or one of many (pools) frees behind work, of
// what graphs keep (graphs) or have kept until the program trimmed it (trimmed), or of another
// process's (others), there never was so much (large), page-locked memory is limited (host), is so
// in very many registrations (registrations), is freed under a copy and wanted again (held), beside
// a graph and a capture (copies), or is all wanted behind small copies (ours), or beside work
// (busy), or other memory of the host is wanted behind such a free (others_of_host), or threads
// free under copies what together is all that may be page-locked (threads):
// tests/unit/test_memory.py looks at what is said of it.
#include <cuda.h>

#include <pthread.h>
#include <semaphore.h>

#include "graph_memory.h"
#include "survival.h"

enum {
    MB = 1 << 20,
    PAGE = 4096,
    ASKED = 200 * MB,
    KEPT_FREE = 124 * MB,
    ALL_BUT_A_BIT = 120 * MB,
    OF_A_GRAPH = 304 * MB,
    FAILURES = 1000,
    POOLS = 20,
    THREADS = 4,
    ROUNDS = 300,
    OF_A_THREAD = 10000
};

static CUstream stream;

static size_t free_bytes(void)
{
    size_t left = 0, total = 0;
    CHECK(cuMemGetInfo(&left, &total));
    return left;
}

static CUresult ask(void)
{
    CUdeviceptr block = 0;
    return cuMemAlloc(&block, ASKED);
}

static SURVIVAL_HELPER CUdeviceptr hold_most(void)
{
    CUdeviceptr held = 0;
    CHECK(cuMemAlloc(&held, free_bytes() - KEPT_FREE));
    return held;
}

static void fail_often(void)
{
    unsigned failed = 0;
    for (unsigned i = 0; i < FAILURES; i++)
        failed += ask() == CUDA_ERROR_OUT_OF_MEMORY;
    SHOW(failed);
}

static void be_full(void)
{
    CUdeviceptr small = 0, held = 0;
    CHECK(cuMemAlloc(&small, 1 * MB));
    held = hold_most();
    SHOW(ask());
    fail_often();
    CHECK(cuMemFree(held));
    CHECK(cuMemFree(small));
}

static sem_t let_go;

static void CUDA_CB hold(void *unused)
{
    (void)unused;
    while (sem_wait(&let_go) != 0)
        ;
}

/* What is freed behind work stays the pool's until that is done, and is the driver's then. */
static void ask_behind_work(CUmemoryPool pool)
{
    CUdeviceptr held = 0;
    cuuint64_t all = UINT64_MAX;
    CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    CHECK(cuMemAllocFromPoolAsync(&held, free_bytes() - KEPT_FREE, pool, stream));
    CHECK(sem_init(&let_go, 0, 0));
    CHECK(cuLaunchHostFunc(stream, hold, NULL));
    CHECK(cuMemFreeAsync(held, stream));
    SHOW(ask());
    CHECK(sem_post(&let_go));
    CHECK(cuStreamSynchronize(stream));
    SHOW(ask());
}

static void fill_a_pool(void)
{
    CUmemoryPool pool = NULL;
    CHECK(cuDeviceGetDefaultMemPool(&pool, 0));
    ask_behind_work(pool);
}

/* The last of many pools keeps all of that. */
static void fill_many_pools(void)
{
    const CUmemPoolProps properties = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
    };
    CUmemoryPool pools[POOLS];
    for (unsigned i = 0; i < POOLS; i++)
        CHECK(cuMemPoolCreate(&pools[i], &properties));
    ask_behind_work(pools[POOLS - 1]);
    for (unsigned i = 0; i < POOLS; i++)
        CHECK(cuMemPoolDestroy(pools[i]));
}

/* What graphs keep comes too late for the first of two calls. */
static void ask_beside_graphs(void)
{
    CUgraphExec exec = new_exec_of(OF_A_GRAPH);
    CUdeviceptr held = 0, block = 0;
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    held = hold_most();
    SHOW(cuMemAllocAsync(&block, ASKED, stream));
    SHOW(cuMemAllocAsync(&block, ASKED, stream));
    CHECK(cuMemFreeAsync(block, stream));
    CHECK(cuMemFree(held));
    CHECK(cuGraphExecDestroy(exec));
}

/* Less is free than a pool grows by, and graphs keep nothing any more. */
static void ask_behind_a_trim(void)
{
    CUgraphExec exec = new_exec_of(OF_A_GRAPH);
    CUdeviceptr held = 0, block = 0;
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuDeviceGraphMemTrim(0));
    held = hold_most();
    SHOW(cuMemAllocAsync(&block, ALL_BUT_A_BIT, stream));
    CHECK(cuMemFree(held));
}

/* As many registrations as the second argument says, each of a page that lies apart; one more
 * fails. */
static void register_pages(size_t count)
{
    char *pages = aligned_alloc(PAGE, (2 * count + 1) * PAGE);
    for (size_t i = 0; i < count; i++)
        CHECK(cuMemHostRegister(pages + 2 * i * PAGE, PAGE, 0));
    SHOW(cuMemHostRegister(pages + 2 * count * PAGE, PAGE, 0));
    for (size_t i = 0; i < count; i++)
        CHECK(cuMemHostUnregister(pages + 2 * i * PAGE));
    free(pages);
}

static void ask_for_too_much(void)
{
    CUdeviceptr block = 0;
    SHOW(cuMemAlloc(&block, (size_t)1 << 50));
    SHOW(cuMemAllocAsync(&block, (size_t)1 << 50, stream));
}

static void fill_the_host(void)
{
    void *first = NULL, *second = NULL;
    SHOW(cuMemHostAlloc(&first, 70 * MB, 0));
    SHOW(cuMemHostAlloc(&second, 70 * MB, 0));
    CHECK(cuMemFreeHost(first));
}

/* A mistake: the copy may write what another one has by then. The driver waits in the free. */
static void free_under_a_copy_of(size_t bytes)
{
    void *first = NULL;
    CUdeviceptr block = 0;
    CHECK(cuMemAlloc(&block, 1 * MB));
    CHECK(cuMemHostAlloc(&first, bytes, 0));
    CHECK(cuMemcpyDtoHAsync(first, block, 1 * MB, stream));
    CHECK(cuMemFreeHost(first));
}

static void free_under_a_copy(void)
{
    void *second = NULL;
    free_under_a_copy_of(60 * MB);
    SHOW(cuMemHostAlloc(&second, 60 * MB, 0));
    CHECK(cuMemFreeHost(second));
}

static void pin_and_free(size_t bytes)
{
    void *block = NULL;
    CHECK(cuMemAllocHost(&block, bytes));
    CHECK(cuMemFreeHost(block));
}

/* What was freed and copied before leaves all there is, also while a copy is under way. */
static void pin_all(const char *limit)
{
    static const size_t sizes[] = {64, 20000, 50000, 200000};
    void *small = NULL, *all = NULL;
    CUdeviceptr block = 0;
    CHECK(cuMemAlloc(&block, 1 * MB));
    CHECK(cuMemAllocHost(&small, 1 * MB));
    for (unsigned i = 0; i < 4 * 20; i++)
        CHECK(cuMemcpyHtoDAsync(block, small, sizes[i / 20], stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemFreeHost(small));
    pin_and_free(2 * MB);
    CHECK(cuMemsetD8Async(block, 1, 1 * MB, stream));
    SHOW(cuMemAllocHost(&all, strtoul(limit, NULL, 10)));
    CHECK(cuMemFreeHost(all));
    CHECK(cuMemFree(block));
}

/* The driver would wait for the host function, which waits for what follows the failure. */
static void fail_beside_work(const char *limit)
{
    void *all = NULL;
    pin_and_free(2 * MB);
    CHECK(sem_init(&let_go, 0, 0));
    CHECK(cuLaunchHostFunc(stream, hold, NULL));
    SHOW(cuMemAllocHost(&all, strtoul(limit, NULL, 10)));
    CHECK(sem_post(&let_go));
    CHECK(cuStreamSynchronize(stream));
    SHOW(cuMemAllocHost(&all, strtoul(limit, NULL, 10)));
    CHECK(cuMemFreeHost(all));
}

/* A block that a graph names is held for as long as that is there, and a stream captures. */
static void free_under_copies(void)
{
    void *named = NULL, *block = NULL;
    CUdeviceptr to = 0;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUstream capturing = NULL;
    CHECK(cuStreamCreate(&capturing, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&to, 1 * MB));
    CHECK(cuMemAllocHost(&named, PAGE));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemcpyHtoDAsync(to, named, PAGE, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuMemFreeHost(named));
    for (unsigned i = 0; i < 5; i++) {
        if (i == 3)
            CHECK(cuStreamBeginCapture(capturing, CU_STREAM_CAPTURE_MODE_RELAXED));
        SHOW(cuMemAllocHost(&block, 40 * MB));
        CHECK(cuMemcpyHtoDAsync(to, block, 1 * MB, stream));
        CHECK(cuMemFreeHost(block));
    }
    CHECK(cuStreamEndCapture(capturing, &graph));
    CHECK(cuStreamSynchronize(stream));
}

/* What the driver's free would have waited for is there for physical memory and a pool alike. */
static void free_for_others(void)
{
    const CUmemAllocationProp physical = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA}};
    const CUmemPoolProps of_host = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {.type = CU_MEM_LOCATION_TYPE_HOST}};
    CUmemGenericAllocationHandle handle = 0;
    CUmemoryPool pool = NULL;
    CUdeviceptr block = 0;
    free_under_a_copy_of(40 * MB);
    SHOW(cuMemCreate(&handle, 40 * MB, &physical, 0));
    CHECK(cuMemRelease(handle));
    CHECK(cuMemPoolCreate(&pool, &of_host));
    free_under_a_copy_of(40 * MB);
    SHOW(cuMemAllocFromPoolAsync(&block, 40 * MB, pool, stream));
    CHECK(cuMemFreeAsync(block, stream));
}

/* Together the threads never have more than may be page-locked. */
static void *free_again_and_again(void *context)
{
    CUstream own = NULL;
    CUdeviceptr to = 0;
    void *block = NULL;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&to, OF_A_THREAD));
    for (unsigned i = 0; i < ROUNDS; i++) {
        CHECK(cuMemAllocHost(&block, OF_A_THREAD));
        CHECK(cuMemcpyHtoDAsync(to, block, OF_A_THREAD, own));
        CHECK(cuMemFreeHost(block));
    }
    CHECK(cuStreamSynchronize(own));
    return NULL;
}

static void free_in_threads(CUcontext context)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, free_again_and_again, context));
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL));
}

static bool is_asked(int argc, char **argv, const char *what)
{
    return argc < 2 || strcmp(argv[1], what) == 0;
}

int main(int argc, char **argv)
{
    CUcontext context = NULL;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (is_asked(argc, argv, "full"))
        be_full();
    if (is_asked(argc, argv, "pool"))
        fill_a_pool();
    if (is_asked(argc, argv, "pools"))
        fill_many_pools();
    if (is_asked(argc, argv, "large"))
        ask_for_too_much();
    if (is_asked(argc, argv, "graphs"))
        ask_beside_graphs();
    if (is_asked(argc, argv, "trimmed"))
        ask_behind_a_trim();
    if (argc > 1 && strcmp(argv[1], "others") == 0)
        SHOW(ask());
    if (argc > 2 && strcmp(argv[1], "registrations") == 0)
        register_pages(strtoul(argv[2], NULL, 10));
    if (argc > 1 && strcmp(argv[1], "host") == 0)
        fill_the_host();
    if (argc > 1 && strcmp(argv[1], "held") == 0)
        free_under_a_copy();
    if (argc > 2 && strcmp(argv[1], "ours") == 0)
        pin_all(argv[2]);
    if (argc > 2 && strcmp(argv[1], "busy") == 0)
        fail_beside_work(argv[2]);
    if (argc > 1 && strcmp(argv[1], "copies") == 0)
        free_under_copies();
    if (argc > 1 && strcmp(argv[1], "others_of_host") == 0)
        free_for_others();
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        free_in_threads(context);
    return 0;
}

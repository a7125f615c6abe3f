/*
 * patterns: what programs pay that alternate copies, launches and waits, through the CUDA runtime.
 * Each batch is divided by a spin loop that is timed before and after it, since hosts change their
 * clock: a figure is in ns of a processor that takes SPIN_NOMINAL_NS for the loop.
 *
 *     patterns [--quick] [--list] [NAME...]
 *
 * NAME_cold is the same with a cold cache before each step (cold.h), which is not timed: what it
 * costs in a program, and not in a loop. NAME_threads is it by up to THREADS_MOST threads at once,
 * each with streams and memory of its own; the figure is a thread's. The device does its part
 * outside of the timing, unless the pattern waits for it.
 */
#include "tests/bench/choice.h"
#include "tests/bench/cold.h"
#include "tests/bench/driver.h"
#include "tests/bench/measure.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define RUNTIME_FUNCTIONS(X)                                                                       \
    X(cudaSetDevice)                                                                               \
    X(cudaDeviceSynchronize)                                                                       \
    X(cudaMalloc)                                                                                  \
    X(cudaMallocHost)                                                                              \
    X(cudaMallocAsync)                                                                             \
    X(cudaFreeAsync)                                                                               \
    X(cudaMemcpy)                                                                                  \
    X(cudaMemcpyAsync)                                                                             \
    X(cudaMemsetAsync)                                                                             \
    X(cudaStreamCreateWithFlags)                                                                   \
    X(cudaStreamSynchronize)                                                                       \
    X(cudaStreamQuery)                                                                             \
    X(cudaStreamWaitEvent)                                                                         \
    X(cudaEventCreateWithFlags)                                                                    \
    X(cudaEventRecord)                                                                             \
    X(cudaEventQuery)

enum {
    THREADS_MOST = 16,
    BUFFERS = 64,
    KB = 1024,
    LARGE = 64 * KB,
    FILLED = 1024 * KB,
    LANE_BYTES = BUFFERS * LARGE + FILLED,
    VECTORS = 500,
    REPEATS = 40,
    QUICK_REPEATS = 10,
    COLD_REPEATS = 5,
    COLD_STEPS = 25, /* of a batch, at most */
    SPIN_STEPS = 4000,
    SPIN_TRIES = 3,
    SPIN_NOMINAL_NS = 5000,
};

/* What the clock may change by around a batch that counts. */
static const double steady = 1.1;

static struct runtime {
    RUNTIME_FUNCTIONS(DRIVER_MEMBER)
} runtime;

static CUfunction empty_kernel;                    /* NULL: this driver does not load PTX */
static __typeof__(cuMemcpyBatchAsync) *copy_batch; /* NULL: the driver has none */
static unsigned repeats = REPEATS;

/* What a thread works on. */
struct lane {
    cudaStream_t stream, other;
    cudaEvent_t event;
    unsigned char *host, *device; /* LANE_BYTES each */
    unsigned char *pageable;      /* LARGE bytes */
    unsigned char *vectors[VECTORS];
};

/* ---- the runtime ---- */

static void must_run(cudaError_t error, const char *call)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "%s: cudaError %d\n", call, (int)error);
        exit(2);
    }
}

#define RUN(call) must_run(runtime.call, #call)

static void *open_runtime(void)
{
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so",
                                        "/usr/local/cuda/lib64/libcudart.so"};
    for (size_t i = 0; i < COUNT(names); i++) {
        void *library = dlopen(names[i], RTLD_NOW);
        if (library)
            return library;
    }
    fprintf(stderr, "patterns: no libcudart here; LD_LIBRARY_PATH may name its folder\n");
    exit(2);
}

/* Of CUDA 13 on; before, the call had one parameter more. */
static void find_copy_batch(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    copy_batch = (__typeof__(copy_batch))dlsym(library, "cuMemcpyBatchAsync_v2");
}

static void start(void)
{
    void *library = open_runtime();
#define RUNTIME_LOOK_UP(name)                                                                      \
    runtime.name = (__typeof__(name) *)driver_symbol(library, DRIVER_QUOTE(name));
    RUNTIME_FUNCTIONS(RUNTIME_LOOK_UP)
    RUN(cudaSetDevice(0));
    driver_start();
    empty_kernel = driver_empty_kernel();
    find_copy_batch();
}

static void make_lane(struct lane *lane)
{
    RUN(cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking));
    RUN(cudaStreamCreateWithFlags(&lane->other, cudaStreamNonBlocking));
    RUN(cudaEventCreateWithFlags(&lane->event, cudaEventDisableTiming));
    RUN(cudaMallocHost((void **)&lane->host, LANE_BYTES));
    RUN(cudaMalloc((void **)&lane->device, LANE_BYTES));
    lane->pageable = malloc(LARGE);
    if (!lane->pageable)
        abort();
    memset(lane->host, 1, LANE_BYTES);
    memset(lane->pageable, 1, LARGE);
    for (unsigned i = 0; i < VECTORS; i++) {
        lane->vectors[i] = malloc(4 * KB);
        if (!lane->vectors[i])
            abort();
        memset(lane->vectors[i], 1, 4 * KB);
    }
}

/* ---- patterns ---- */

static void upload(const struct lane *lane, unsigned i, size_t size_bytes, cudaStream_t stream)
{
    size_t offset = i % BUFFERS * size_bytes;
    RUN(cudaMemcpyAsync(lane->device + offset, lane->host + offset, size_bytes,
                        cudaMemcpyHostToDevice, stream));
}

static void download(const struct lane *lane, unsigned i)
{
    size_t offset = i % BUFFERS * (4 * KB);
    RUN(cudaMemcpyAsync(lane->host + offset, lane->device + offset, 4 * KB, cudaMemcpyDeviceToHost,
                        lane->stream));
}

static void h2d_4k(const struct lane *lane, unsigned i)
{
    upload(lane, i, 4 * KB, lane->stream);
}

static void h2d_64b(const struct lane *lane, unsigned i)
{
    upload(lane, i, 64, lane->stream);
}

static void h2d_64k(const struct lane *lane, unsigned i)
{
    upload(lane, i, LARGE, lane->stream);
}

static void h2d_per_thread(const struct lane *lane, unsigned i)
{
    upload(lane, i, 4 * KB, cudaStreamPerThread);
}

static void h2d_legacy(const struct lane *lane, unsigned i)
{
    upload(lane, i, 4 * KB, cudaStreamLegacy);
}

static void h2d_pageable(const struct lane *lane, unsigned i)
{
    (void)i;
    RUN(cudaMemcpyAsync(lane->device, lane->pageable, 4 * KB, cudaMemcpyHostToDevice,
                        lane->stream));
}

static void h2d_synchronous(const struct lane *lane, unsigned i)
{
    (void)i;
    RUN(cudaMemcpy(lane->device, lane->host, 4 * KB, cudaMemcpyHostToDevice));
}

static void d2h_4k(const struct lane *lane, unsigned i)
{
    download(lane, i);
}

static void d2d_4k(const struct lane *lane, unsigned i)
{
    (void)i;
    RUN(cudaMemcpyAsync(lane->device, lane->device + 8 * KB, 4 * KB, cudaMemcpyDeviceToDevice,
                        lane->stream));
}

static void memset_4k(const struct lane *lane, unsigned i)
{
    (void)i;
    RUN(cudaMemsetAsync(lane->device, 0, 4 * KB, lane->stream));
}

static void launch(const struct lane *lane, unsigned i)
{
    (void)i;
    MUST(driver.cuLaunchKernel(empty_kernel, 1, 1, 1, 1, 1, 1, 0, lane->stream, NULL, NULL));
}

static void h2d_launch(const struct lane *lane, unsigned i)
{
    h2d_4k(lane, i);
    launch(lane, i);
}

static void h2d_launch_d2h_sync(const struct lane *lane, unsigned i)
{
    h2d_launch(lane, i);
    download(lane, i + BUFFERS / 2);
    RUN(cudaStreamSynchronize(lane->stream));
}

static void fill_h2d_sync(const struct lane *lane, unsigned i)
{
    unsigned char *filled = lane->host + BUFFERS * LARGE;
    memset(filled, (int)i, FILLED);
    RUN(cudaMemcpyAsync(lane->device, filled, FILLED, cudaMemcpyHostToDevice, lane->stream));
    RUN(cudaStreamSynchronize(lane->stream));
}

static void batch_sync(const struct lane *lane, size_t size_bytes)
{
    CUdeviceptr targets[VECTORS], sources[VECTORS];
    size_t sizes[VECTORS];
    size_t first = 0;
    CUmemcpyAttributes order = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    for (unsigned i = 0; i < VECTORS; i++) {
        targets[i] = (CUdeviceptr)(uintptr_t)(lane->device + i * size_bytes);
        sources[i] = (CUdeviceptr)(uintptr_t)lane->vectors[i];
        sizes[i] = size_bytes;
    }
    MUST(copy_batch(targets, sources, sizes, VECTORS, &order, &first, 1, (CUstream)lane->stream));
    RUN(cudaStreamSynchronize(lane->stream));
}

static void batch_64b_sync(const struct lane *lane, unsigned i)
{
    (void)i;
    batch_sync(lane, 64);
}

static void batch_4k_sync(const struct lane *lane, unsigned i)
{
    (void)i;
    batch_sync(lane, 4 * KB);
}

static void record_wait(const struct lane *lane, unsigned i)
{
    (void)i;
    RUN(cudaEventRecord(lane->event, lane->stream));
    RUN(cudaStreamWaitEvent(lane->other, lane->event, 0));
}

static void record_query(const struct lane *lane, unsigned i)
{
    (void)i;
    RUN(cudaEventRecord(lane->event, lane->stream));
    (void)runtime.cudaEventQuery(lane->event); /* may be not ready */
}

static void stream_query(const struct lane *lane, unsigned i)
{
    (void)i;
    RUN(cudaStreamQuery(lane->stream));
}

static void sync_idle(const struct lane *lane, unsigned i)
{
    (void)i;
    RUN(cudaStreamSynchronize(lane->stream));
}

static void alloc_async(const struct lane *lane, unsigned i)
{
    void *block;
    (void)i;
    RUN(cudaMallocAsync(&block, 4 * KB, lane->stream));
    RUN(cudaFreeAsync(block, lane->stream));
}

static void malloc_free(const struct lane *lane, unsigned i)
{
    (void)lane, (void)i;
    void *block = malloc(100);
    __asm__ volatile("" : "+r"(block) : : "memory");
    free(block);
}

static const struct pattern {
    const char *name;
    unsigned steps; /* of a batch: what a queue of the driver takes, and no more than some ms */
    bool launches, batches;
    void (*step)(const struct lane *lane, unsigned i);
} patterns[] = {
    {"h2d_4k", 200, false, false, h2d_4k},
    {"h2d_64b", 200, false, false, h2d_64b},
    {"h2d_64k", 100, false, false, h2d_64k},
    {"h2d_per_thread", 200, false, false, h2d_per_thread},
    {"h2d_legacy", 200, false, false, h2d_legacy},
    {"h2d_pageable", 200, false, false, h2d_pageable},
    {"h2d_synchronous", 50, false, false, h2d_synchronous},
    {"d2h_4k", 200, false, false, d2h_4k},
    {"d2d_4k", 200, false, false, d2d_4k},
    {"memset_4k", 200, false, false, memset_4k},
    {"launch", 200, true, false, launch},
    {"h2d_launch", 200, true, false, h2d_launch},
    {"h2d_launch_d2h_sync", 50, true, false, h2d_launch_d2h_sync},
    {"fill_h2d_sync", 20, false, false, fill_h2d_sync},
    {"batch_64b_sync", 5, false, true, batch_64b_sync},
    {"batch_4k_sync", 5, false, true, batch_4k_sync},
    {"record_wait", 200, false, false, record_wait},
    {"record_query", 200, false, false, record_query},
    {"stream_query", 200, false, false, stream_query},
    {"sync_idle", 200, false, false, sync_idle},
    {"alloc_async", 100, false, false, alloc_async},
    {"malloc_free", 1000, false, false, malloc_free},
};

/* ---- measuring ---- */

static double spin_ns(void)
{
    static volatile unsigned sink;
    uint64_t best = UINT64_MAX;
    for (int try = 0; try < SPIN_TRIES; try++) {
        uint64_t begin = now_ns();
        unsigned x = 1;
        for (int i = 0; i < SPIN_STEPS; i++) {
            x = x * 1664525U + 1013904223U;
            __asm__ volatile("" : : "r"(x));
        }
        sink = x;
        uint64_t took = now_ns() - begin;
        best = took < best ? took : best;
    }
    (void)sink;
    return (double)best;
}

/* One thread of a measurement. */
struct runner {
    const struct pattern *pattern;
    const struct lane *lane;
    const unsigned char *cold;  /* NULL: with a warm cache */
    pthread_barrier_t *barrier; /* NULL: alone */
    pthread_t thread;
    unsigned count; /* batches that count */
    double ns[REPEATS];
};

/* Each step is timed by itself, less what it takes to read the clock. */
static double cold_batch(const struct runner *runner)
{
    const struct pattern *pattern = runner->pattern;
    unsigned steps = pattern->steps < COLD_STEPS ? pattern->steps : COLD_STEPS;
    uint64_t took = 0, clock = 0;
    for (unsigned i = 0; i < steps; i++) {
        chill(runner->cold);
        uint64_t before = now_ns();
        uint64_t begin = now_ns();
        pattern->step(runner->lane, i);
        took += now_ns() - begin;
        clock += begin - before;
    }
    return took > clock ? (double)(took - clock) / steps : 0;
}

static double batch(void *arg)
{
    const struct runner *runner = arg;
    const struct pattern *pattern = runner->pattern;
    if (runner->cold)
        return cold_batch(runner);
    uint64_t begin = now_ns();
    for (unsigned i = 0; i < pattern->steps; i++)
        pattern->step(runner->lane, i);
    return (double)(now_ns() - begin) / pattern->steps;
}

static void run_repeat(struct runner *runner)
{
    double before = spin_ns();
    double ns = at_depth(CALL_DEPTH, batch, runner);
    double after = spin_ns();
    if (before / after < steady && after / before < steady)
        runner->ns[runner->count++] = ns * 2 / (before + after) * SPIN_NOMINAL_NS;
}

/* The device is idle, and the threads together, when a batch begins. */
static void settle(const struct runner *runner)
{
    if (runner->barrier)
        pthread_barrier_wait(runner->barrier);
    RUN(cudaDeviceSynchronize());
    if (runner->barrier)
        pthread_barrier_wait(runner->barrier);
}

static void *run(void *arg)
{
    struct runner *runner = arg;
    RUN(cudaSetDevice(0));
    MUST(driver.cuCtxSetCurrent(driver.primary));
    at_depth(CALL_DEPTH, batch, runner); /* to warm up */
    for (unsigned r = 0; r < (runner->cold ? COLD_REPEATS : repeats); r++) {
        settle(runner);
        run_repeat(runner);
    }
    settle(runner);
    return NULL;
}

static struct runner runners[THREADS_MOST];
static struct lane lanes[THREADS_MOST];

static void print_median(const char *name, unsigned threads)
{
    static double all[THREADS_MOST * REPEATS];
    size_t count = 0;
    for (unsigned t = 0; t < threads; t++) {
        memcpy(all + count, runners[t].ns, runners[t].count * sizeof *all);
        count += runners[t].count;
    }
    if (count == 0)
        printf("# %s: the clock changed around every batch\n", name);
    else
        print_figure(name, median(all, count), "ns");
}

static void measure_alone(const struct pattern *pattern, const char *name,
                          const unsigned char *cold)
{
    runners[0] = (struct runner){.pattern = pattern, .lane = &lanes[0], .cold = cold};
    run(&runners[0]);
    print_median(name, 1);
}

static unsigned thread_count(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < THREADS_MOST ? (unsigned)processors : THREADS_MOST;
}

static void measure_threads(const struct pattern *pattern, const char *name)
{
    unsigned threads = thread_count();
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, threads);
    for (unsigned t = 0; t < threads; t++) {
        runners[t] = (struct runner){.pattern = pattern, .lane = &lanes[t], .barrier = &barrier};
        if (pthread_create(&runners[t].thread, NULL, run, &runners[t]) != 0)
            abort();
    }
    for (unsigned t = 0; t < threads; t++)
        pthread_join(runners[t].thread, NULL);
    pthread_barrier_destroy(&barrier);
    if (threads < THREADS_MOST)
        printf("# %s: with %u threads, a processor each\n", name, threads);
    print_median(name, threads);
}

/* ---- the command ---- */

/* The patterns alone, then with a cold cache, then by threads. */
static const char *name_of(size_t i)
{
    static const char *const endings[] = {"", "_cold", "_threads"};
    static char names[COUNT(endings) * COUNT(patterns)][64];
    if (i >= COUNT(names))
        return NULL;
    snprintf(names[i], sizeof names[i], "%s%s", patterns[i % COUNT(patterns)].name,
             endings[i / COUNT(patterns)]);
    return names[i];
}

static void measure_one(size_t i, const unsigned char *cold)
{
    const struct pattern *pattern = &patterns[i % COUNT(patterns)];
    size_t kind = i / COUNT(patterns);
    if (pattern->launches && !empty_kernel)
        printf("# %s: this driver does not load PTX\n", name_of(i));
    else if (pattern->batches && !copy_batch)
        printf("# %s: this driver has no batch copies\n", name_of(i));
    else if (kind == 2)
        measure_threads(pattern, name_of(i));
    else
        measure_alone(pattern, name_of(i), kind == 1 ? cold : NULL);
}

int main(int argc, char **argv)
{
    int quick = 0;
    const struct option options[] = {
        {"quick", no_argument, &quick, 1}, CHOICE_LIST, {NULL, 0, NULL, 0}};
    struct choice choice = choose(argc, argv, options, name_of);

    if (quick)
        repeats = QUICK_REPEATS;
    start();
    for (unsigned t = 0; t < thread_count(); t++)
        make_lane(&lanes[t]);
    unsigned char *cold = cold_block();
    for (size_t i = 0; name_of(i); i++)
        if (is_chosen(&choice, name_of(i)))
            measure_one(i, cold);
    free(cold);
    return 0;
}

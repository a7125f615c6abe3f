/*
 * bench: what copies, launches and frees cost, figure by figure. run.py runs it without and with
 * the library; alone it says what the driver costs.
 *
 *     bench [--quick] [--fine] [--list] [BENCHMARK...]
 *
 * With --fine the families of copies, of which there are ever more of something, have more members.
 * Every call is timed at issue; the device does its part outside the timing. A benchmark that has
 * to make do with less than it was meant for (the driver's queues are finite, registering is slow)
 * says so in a line that opens with '#'.
 */
#include "tests/bench/choice.h"
#include "tests/bench/gate.h"

#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    PAGE_BYTES = 4096,
    COPY_BYTES = 64,
    BATCH = 500, /* less than what fills a queue of the driver */
    STREAMS_MOST = 1024,
    GATED_STREAMS = 64,
    STREAM_RUN = 100, /* copies to one stream before it is the next one's turn */
    IN_FLIGHT_MOST = 100000,
    RANGES_MOST = 100000,
    MAPPINGS_MOST = 30000, /* the kernel allows 65,530 of a process */
    LARGE = 64 * 1024,     /* too large for a snapshot: its pages are protected */
    BUFFERS = 1000,
    THREADS_MOST = 16,
    BUSY_MS = 200,
};

static const uint64_t registering_limit_ns = UINT64_C(5) * 1000000000;

static int quick, fine;
static struct effort loops = {.repeats = 5, .batches = 6};
static struct effort calls = {.repeats = 3, .batches = 1};

/* One pinned arena and one on the device, at equal offsets of which each copy has its range. */
static unsigned char *arena;
static CUdeviceptr device_arena;
static CUstream streams[STREAMS_MOST];
static size_t stream_count;

/* Benchmarks of the same copies, with ever more of something. */
struct family {
    const char *name;
    const size_t *counts;
    size_t count;
};

#define FAMILY(name, few, many)                                                                    \
    (fine ? (struct family){name, many, COUNT(many)} : (struct family){name, few, COUNT(few)})

struct member_name {
    char text[64];
};

static struct member_name member_name(const struct family *family, size_t i)
{
    struct member_name name;
    snprintf(name.text, sizeof name.text, "%s_%zu", family->name, family->counts[i]);
    return name;
}

static void make_streams(size_t count)
{
    for (; stream_count < count; stream_count++)
        streams[stream_count] = driver_stream();
}

/* A pinned arena is built by a first copy of each stream too, so that none is timed. */
static void set_up(void)
{
    const size_t arena_bytes = (size_t)IN_FLIGHT_MOST * COPY_BYTES;

    driver_start();
    arena = driver_pinned(arena_bytes);
    device_arena = driver_device(arena_bytes);
    memset(arena, 1, arena_bytes);
    make_streams(GATED_STREAMS);
    for (size_t i = 0; i < BATCH; i++)
        MUST(driver.cuMemcpyHtoDAsync(device_arena, arena, COPY_BYTES, streams[i % GATED_STREAMS]));
    MUST(driver.cuCtxSynchronize());
}

/* ---- issuing copies ---- */

struct copies {
    const unsigned char *host;
    size_t stride, size_bytes;
    size_t ranges, range_step, streams;
    size_t range, stream; /* the next */
};

/* ns per copy, over BATCH copies that go round the ranges and the streams. */
static double issue_batch(void *arg)
{
    struct copies *c = arg;
    CUresult failed = CUDA_SUCCESS;
    uint64_t begin_ns = now_ns();

    for (size_t i = 0; i < BATCH; i++) {
        size_t offset = c->range * c->stride;
        failed |= driver.cuMemcpyHtoDAsync(device_arena + offset % (IN_FLIGHT_MOST * COPY_BYTES),
                                           c->host + offset, c->size_bytes, streams[c->stream]);
        c->range = (c->range + c->range_step) % c->ranges;
        c->stream = c->stream + 1 < c->streams ? c->stream + 1 : 0;
    }
    double ns = (double)(now_ns() - begin_ns) / BATCH;
    must_succeed(failed, "cuMemcpyHtoDAsync");
    MUST(driver.cuCtxSynchronize());
    return ns;
}

static void issue_htod_4k(void)
{
    struct copies copies = {arena, PAGE_BYTES, PAGE_BYTES, 64, 1, 1, 0, 0};

    measure("issue_htod_4k", "ns", loops, issue_batch, &copies);
}

static void copy_streams(void)
{
    static const size_t few[] = {1, 32, 1024}, many[] = {1, 4, 16, 64, 256, STREAMS_MOST};
    const struct family family = FAMILY("copy_streams", few, many);

    for (size_t i = 0; i < family.count; i++) {
        struct copies copies = {arena, COPY_BYTES, COPY_BYTES, 1024, 1, family.counts[i], 0, 0};
        make_streams(family.counts[i]);
        measure(member_name(&family, i).text, "ns", loops, issue_batch, &copies);
    }
}

/* Copies of which the pages are protected, in a process of ever more mappings. Neighbours differ in
 * what is allowed, so that the kernel makes one of each page. The pages stay. */
static void copy_mappings(void)
{
    static const size_t few[] = {1, 1000, MAPPINGS_MOST};
    static const size_t many[] = {1, 10, 100, 1000, 10000, MAPPINGS_MOST};
    const struct family family = FAMILY("copy_mappings", few, many);
    unsigned char *pages = mmap(NULL, (size_t)MAPPINGS_MOST * PAGE_BYTES, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t made = 0;

    if (pages == MAP_FAILED)
        return;
    for (size_t i = 0; i < family.count; i++) {
        struct copies copies = {arena, LARGE, LARGE, 64, 1, 1, 0, 0};
        for (; made < family.counts[i]; made += 2)
            if (mprotect(pages + made * PAGE_BYTES, PAGE_BYTES, PROT_READ) != 0)
                break;
        if (made < family.counts[i])
            printf("# %s: with %zu, all that the kernel allows\n", member_name(&family, i).text,
                   made);
        measure(member_name(&family, i).text, "ns", loops, issue_batch, &copies);
    }
}

/* Registers single pages until `count` are, or time is up; returns how many are. The last one to
 * run, since nothing is unregistered again: that would take longer than all the rest. */
static size_t register_pages(unsigned char *pages, size_t from, size_t count, uint64_t until_ns)
{
    for (; from < count && now_ns() < until_ns; from++)
        if (driver.cuMemHostRegister(pages + from * PAGE_BYTES, PAGE_BYTES, 0) != CUDA_SUCCESS)
            break;
    return from;
}

static void copy_ranges(void)
{
    static const size_t few[] = {1, 1000, RANGES_MOST};
    static const size_t many[] = {1, 10, 100, 1000, 10000, RANGES_MOST};
    const struct family family = FAMILY("copy_ranges", few, many);
    const uint64_t until_ns = now_ns() + registering_limit_ns;
    unsigned char *pages = mmap(NULL, (size_t)RANGES_MOST * PAGE_BYTES, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t registered = 0;

    if (pages == MAP_FAILED)
        return;
    for (size_t i = 0; i < family.count; i++) {
        const struct member_name name = member_name(&family, i);
        registered = register_pages(pages, registered, family.counts[i], until_ns);
        if (registered < family.counts[i])
            printf("# %s: with %zu, for want of time or room\n", name.text, registered);
        /* 7919 is prime: the copies fall on ranges far apart and meet all of them. */
        struct copies copies = {pages, PAGE_BYTES, COPY_BYTES, registered, 7919, 1, 0, 0};
        measure(name.text, "ns", loops, issue_batch, &copies);
    }
}

/* ---- kernel launch ---- */

static CUfunction empty_kernel;

static double launch_batch(void *unused)
{
    CUresult failed = CUDA_SUCCESS;

    (void)unused;
    uint64_t begin_ns = now_ns();
    for (size_t i = 0; i < BATCH; i++)
        failed |= driver.cuLaunchKernel(empty_kernel, 1, 1, 1, 1, 1, 1, 0, streams[0], NULL, NULL);
    double ns = (double)(now_ns() - begin_ns) / BATCH;
    must_succeed(failed, "cuLaunchKernel");
    MUST(driver.cuCtxSynchronize());
    return ns;
}

static void kernel_launch(void)
{
    empty_kernel = driver_empty_kernel();
    if (!empty_kernel) {
        printf("# kernel_launch: this driver does not load PTX\n");
        return;
    }
    measure("kernel_launch", "ns", loops, launch_batch, NULL);
}

/* ---- copies in flight ---- */

/* What the driver's queues hold, once that was found to be less than what was asked for. */
static size_t queue_room = IN_FLIGHT_MOST;

/* Copies [from, to) behind the gate, spread over streams since each has a finite queue, but in runs
 * since a change of stream has its price (copy_streams); false when the queue is full and the gate
 * gave way. */
static bool fill(struct gate *gate, size_t from, size_t to, size_t over_streams)
{
    CUresult failed = CUDA_SUCCESS;

    for (size_t i = from; i < to && !atomic_load_explicit(&gate->stuck, memory_order_relaxed);
         i++) {
        failed |= driver.cuMemcpyHtoDAsync(device_arena + i * COPY_BYTES, arena + i * COPY_BYTES,
                                           COPY_BYTES, streams[i / STREAM_RUN % over_streams]);
        gate_step(gate);
    }
    must_succeed(failed, "cuMemcpyHtoDAsync");
    return !atomic_load(&gate->stuck);
}

struct depth {
    size_t in_flight;
    size_t timed; /* the last of them */
};

/* ns per copy over the last copies, or -1 when the queue holds fewer. */
static double depth_batch(void *arg)
{
    struct depth *depth = arg;
    size_t over_streams = depth->in_flight <= STREAM_RUN ? 1 : GATED_STREAMS;
    size_t filled = depth->in_flight - depth->timed;
    struct gate gate;

    gate_close(&gate, streams, over_streams);
    atomic_store(&gate.filling, true);
    bool held = fill(&gate, 0, filled, over_streams);
    uint64_t begin_ns = now_ns();
    held = held && fill(&gate, filled, depth->in_flight, over_streams);
    double ns = (double)(now_ns() - begin_ns) / (double)depth->timed;
    gate_open(&gate);
    if (held)
        return ns;
    /* A tenth is left free: no run of a stream may find the queue full. */
    queue_room = atomic_load(&gate.progress) * 9 / 10;
    return -1;
}

/* The largest depth up to `wanted` that the driver's queues hold. */
static struct depth reachable_depth(size_t wanted)
{
    struct depth depth;

    do {
        depth.in_flight = wanted < queue_room ? wanted : queue_room;
        depth.timed = (depth.in_flight + 1) / 2 < 1000 ? (depth.in_flight + 1) / 2 : 1000;
    } while (at_depth(CALL_DEPTH, depth_batch, &depth) < 0 && queue_room > GATED_STREAMS);
    return depth;
}

static void say_depth(const char *name, size_t wanted, size_t in_flight)
{
    if (in_flight < wanted)
        printf("# %s: with %zu, all that the driver's queues hold\n", name, in_flight);
}

static void copy_in_flight(void)
{
    static const size_t few[] = {1, 100, 10000, IN_FLIGHT_MOST};
    static const size_t many[] = {1, 10, 100, 1000, 10000, IN_FLIGHT_MOST};
    const struct family family = FAMILY("copy_inflight", few, many);

    for (size_t i = 0; i < family.count; i++) {
        const struct member_name name = member_name(&family, i);
        struct depth depth = reachable_depth(family.counts[i]);
        /* About as many timed copies in each repeat, but no more than a few of the long fills. */
        struct effort effort = {loops.repeats, (unsigned)(1 + BATCH / (depth.timed + BATCH / 64))};
        say_depth(name.text, family.counts[i], depth.in_flight);
        if (depth.in_flight > 1000)
            effort = calls;
        measure(name.text, "ns", effort, depth_batch, &depth);
    }
}

/* Runs first: memory that an earlier benchmark has used and left would hide the growth. Where the
 * gate gives way, what was in flight until then has left its mark all the same. The driver's own
 * growth is in the figure; run.py takes off what it is without the library. */
static void bytes_per_operation(void)
{
    struct gate gate;

    gate_close(&gate, streams, GATED_STREAMS);
    size_t before_bytes = rss_bytes();
    atomic_store(&gate.filling, true);
    fill(&gate, 0, IN_FLIGHT_MOST, GATED_STREAMS);
    size_t grown_bytes = rss_bytes() - before_bytes;
    gate_open(&gate);
    size_t in_flight = atomic_load(&gate.progress);
    say_depth("bytes_per_operation", IN_FLIGHT_MOST, in_flight);
    print_figure("bytes_per_operation", (double)grown_bytes / (double)in_flight, "bytes");
}

/* ---- threads ---- */

struct crew {
    pthread_barrier_t start;
    unsigned threads;
    double us[THREADS_MOST]; /* per copy, as each thread saw it */
};

struct worker {
    struct crew *crew;
    unsigned index;
    pthread_t thread;
};

static double worker_batch(void *arg)
{
    const struct worker *self = arg;
    const size_t share = (size_t)self->index * BATCH * COPY_BYTES;
    CUresult failed = CUDA_SUCCESS;
    uint64_t begin_ns = now_ns();

    for (size_t i = 0; i < BATCH; i++)
        failed |= driver.cuMemcpyHtoDAsync(device_arena + share + i * COPY_BYTES,
                                           arena + share + i * COPY_BYTES, COPY_BYTES,
                                           streams[self->index]);
    double us = (double)(now_ns() - begin_ns) / BATCH / 1e3;
    must_succeed(failed, "cuMemcpyHtoDAsync");
    return us;
}

static void *worker(void *arg)
{
    struct worker *self = arg;

    MUST(driver.cuCtxSetCurrent(driver.primary));
    pthread_barrier_wait(&self->crew->start);
    self->crew->us[self->index] = at_depth(CALL_DEPTH, worker_batch, self);
    return NULL;
}

/* us per copy as a thread sees it, the mean over the threads. */
static double crew_batch(void *arg)
{
    struct crew *crew = arg;
    struct worker workers[THREADS_MOST];
    double sum = 0;

    pthread_barrier_init(&crew->start, NULL, crew->threads);
    for (unsigned i = 0; i < crew->threads; i++) {
        workers[i] = (struct worker){.crew = crew, .index = i};
        if (pthread_create(&workers[i].thread, NULL, worker, &workers[i]) != 0)
            abort();
    }
    for (unsigned i = 0; i < crew->threads; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += crew->us[i];
    }
    pthread_barrier_destroy(&crew->start);
    MUST(driver.cuCtxSynchronize());
    return sum / crew->threads;
}

static void copy_threads(void)
{
    static const size_t counts[] = {1, 2, 4, 8, THREADS_MOST};
    const struct family family = FAMILY("copy_threads", counts, counts);

    make_streams(THREADS_MOST);
    for (size_t i = 0; i < family.count; i++) {
        struct crew crew = {.threads = (unsigned)family.counts[i]};
        /* The median and not the best: a run in which the threads miss each other proves little. */
        measure(member_name(&family, i).text, "us", (struct effort){quick ? 5 : REPEATS_MOST, 1},
                crew_batch, &crew);
    }
}

/* ---- malloc and free ---- */

static double malloc_batch(void *unused)
{
    enum { PAIRS = 50000 };

    (void)unused;
    uint64_t begin_ns = now_ns();
    for (size_t i = 0; i < PAIRS; i++) {
        void *block = malloc(100);
        __asm__ volatile("" : "+r"(block) : : "memory");
        free(block);
    }
    return (double)(now_ns() - begin_ns) / PAIRS;
}

static void malloc_free_idle(void)
{
    measure("malloc_free_idle", "ns", loops, malloc_batch, NULL);
}

/* Measures while a copy out of each buffer is in flight. */
static void malloc_free_beside(const char *name, unsigned char *const *buffers, size_t count)
{
    struct gate gate;
    size_t issued = 0;

    gate_close(&gate, streams, GATED_STREAMS);
    atomic_store(&gate.filling, true);
    for (; issued < count && !atomic_load(&gate.stuck); issued++) {
        MUST(driver.cuMemcpyHtoDAsync(device_arena + issued * COPY_BYTES, buffers[issued],
                                      COPY_BYTES, streams[issued % GATED_STREAMS]));
        gate_step(&gate);
    }
    atomic_store(&gate.filling, false);
    if (atomic_load(&gate.stuck))
        printf("# %s: none in flight, the driver's queues hold only %lu\n", name,
               atomic_load(&gate.progress));
    measure(name, "ns", loops, malloc_batch, NULL);
    gate_open(&gate);
}

static void malloc_free_registered(void)
{
    static unsigned char *buffers[BUFFERS];

    for (size_t i = 0; i < BUFFERS; i++) {
        buffers[i] = aligned_alloc(PAGE_BYTES, PAGE_BYTES);
        if (!buffers[i])
            abort();
        MUST(driver.cuMemHostRegister(buffers[i], PAGE_BYTES, 0));
    }
    malloc_free_beside("malloc_free_registered", buffers, BUFFERS);
    for (size_t i = 0; i < BUFFERS; i++) {
        MUST(driver.cuMemHostUnregister(buffers[i]));
        free(buffers[i]);
    }
}

static void malloc_free_pinned(void)
{
    static unsigned char *buffers[BUFFERS];

    for (size_t i = 0; i < BUFFERS; i++)
        buffers[i] = driver_pinned(PAGE_BYTES);
    malloc_free_beside("malloc_free_pinned", buffers, BUFFERS);
    for (size_t i = 0; i < BUFFERS; i++)
        MUST(driver.cuMemFreeHost(buffers[i]));
}

/* ---- mutexes: nobody else wants them ---- */

static double lock_batch(void *mutex)
{
    enum { PAIRS = 50000 };

    uint64_t begin_ns = now_ns();
    for (size_t i = 0; i < PAIRS; i++) {
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
    }
    return (double)(now_ns() - begin_ns) / PAIRS;
}

static void lock_unlock(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    measure("lock_unlock", "ns", loops, lock_batch, &mutex);
}

static void lock_unlock_pinned(void)
{
    pthread_mutex_t *mutex = (pthread_mutex_t *)(void *)driver_pinned(PAGE_BYTES);

    pthread_mutex_init(mutex, NULL);
    measure("lock_unlock_pinned", "ns", loops, lock_batch, mutex);
    MUST(driver.cuMemFreeHost(mutex));
}

/* ---- frees under a busy stream ---- */

static void CUDA_CB sleep_busy(void *unused)
{
    (void)unused;
    sleep_ns((uint64_t)BUSY_MS * 1000000U);
}

/* us that freeing a pinned buffer takes while it is in flight behind BUSY_MS of work. */
static double free_host_batch(void *unused)
{
    (void)unused;
    unsigned char *buffer = driver_pinned(1 << 20);
    MUST(driver.cuLaunchHostFunc(streams[0], sleep_busy, NULL));
    MUST(driver.cuMemcpyHtoDAsync(device_arena, buffer, 1 << 20, streams[0]));
    uint64_t begin_ns = now_ns();
    CUresult result = driver.cuMemFreeHost(buffer);
    double us = (double)(now_ns() - begin_ns) / 1e3;
    MUST(result);
    MUST(driver.cuCtxSynchronize());
    return us;
}

static void free_host_busy(void)
{
    measure("free_host_busy", "us", calls, free_host_batch, NULL);
}

/* us that free() takes on a registered block that is in flight. */
static double free_heap_batch(void *unused)
{
    enum { BLOCK_BYTES = 16 * PAGE_BYTES };
    struct gate gate;

    (void)unused;
    unsigned char *block = aligned_alloc(PAGE_BYTES, BLOCK_BYTES);
    if (!block)
        abort();
    MUST(driver.cuMemHostRegister(block, BLOCK_BYTES, 0));
    gate_close(&gate, streams, 1);
    MUST(driver.cuMemcpyHtoDAsync(device_arena, block, BLOCK_BYTES, streams[0]));
    /* The address outlives the block, since who frees it so has not unregistered it. */
    uintptr_t address;
    __asm__("" : "=r"(address) : "0"(block));
    uint64_t begin_ns = now_ns();
    free(block);
    double us = (double)(now_ns() - begin_ns) / 1e3;
    gate_open(&gate);
    driver.cuMemHostUnregister((void *)address);
    return us;
}

/* The heap must not give the registered pages back to the kernel under the driver's feet. */
static void free_busy(void)
{
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    measure("free_busy", "us", (struct effort){REPEATS_MOST, 1}, free_heap_batch, NULL);
}

/* ---- the list ---- */

static const struct benchmark {
    const char *name;
    void (*run)(void);
} benchmarks[] = {
    {"bytes_per_operation", bytes_per_operation},
    {"issue_htod_4k", issue_htod_4k},
    {"kernel_launch", kernel_launch},
    {"malloc_free_idle", malloc_free_idle},
    {"malloc_free_registered", malloc_free_registered},
    {"malloc_free_pinned", malloc_free_pinned},
    {"lock_unlock", lock_unlock},
    {"lock_unlock_pinned", lock_unlock_pinned},
    {"copy_inflight", copy_in_flight},
    {"copy_streams", copy_streams},
    {"copy_threads", copy_threads},
    {"copy_mappings", copy_mappings},
    {"free_host_busy", free_host_busy},
    {"free_busy", free_busy},
    {"copy_ranges", copy_ranges},
};

static const char *name_of(size_t i)
{
    return i < COUNT(benchmarks) ? benchmarks[i].name : NULL;
}

int main(int argc, char **argv)
{
    const struct option options[] = {
        {"quick", no_argument, &quick, 1}, {"fine", no_argument, &fine, 1}, CHOICE_LIST, {0}};
    struct choice choice = choose(argc, argv, options, name_of);
    if (quick)
        loops.repeats = loops.batches = 3;
    set_up();
    for (size_t i = 0; i < COUNT(benchmarks); i++)
        if (is_chosen(&choice, benchmarks[i].name))
            benchmarks[i].run();
    return 0;
}

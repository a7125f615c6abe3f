/*
 * in_turn: what calls and patterns of calls cost under the library against the driver's own
 * functions, in turn within one process: slices of up to a hundred steps each, so that a clock that
 * moves is the same for both. A figure is the median of the ratios of neighbouring slices. Without
 * the library both are the driver's.
 *
 *     in_turn [--quick] [--cold] [--blocking | --legacy] [--threads=N] [--list] [NAME...]
 *
 * The streams are non-blocking ones. --blocking: they are blocking ones, as cudaStreamCreate makes
 * them. --legacy: steps that name one stream name the legacy stream.
 * --cold: each step is timed by itself, behind a chill() of the processor's caches (cold.h).
 * --threads: N threads at once, each with streams and memory of its own; a slice is what all of
 * them take together. A figure has the option in its name.
 *
 * The driver's own functions are read from the symbol table of libcuda.so.1, which no interposer
 * changes. Operations that are made by them are none that the library sees. strict=1 and
 * mode=report cost these calls, too, since CUPTI listens to them.
 */
#include "tests/bench/choice.h"
#include "tests/bench/cold.h"
#include "tests/bench/driver.h"
#include "tests/bench/measure.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

enum {
    KB = 1024,
    BUFFERS = 64,
    LARGE = 64 * KB,
    FILLED = 1024 * KB,
    LANE_BYTES = BUFFERS * LARGE + FILLED,
    PAIRS_MOST = 4000,
    QUICK_DIVISOR = 10,
    WARM_UP_PAIRS = 20,
    COLD_STEPS = 20,
    THREADS_MOST = 64,
    SLICE_CALLS = 100,
};

#define CALLED(X)                                                                                  \
    X(cuMemAllocAsync)                                                                             \
    X(cuMemFreeAsync)                                                                              \
    X(cuMemsetD8Async)                                                                             \
    X(cuMemcpyHtoDAsync)                                                                           \
    X(cuMemcpyDtoHAsync)                                                                           \
    X(cuEventRecord)                                                                               \
    X(cuEventRecordWithFlags)                                                                      \
    X(cuStreamWaitEvent)                                                                           \
    X(cuLaunchKernel)                                                                              \
    X(cuLaunchKernelEx)                                                                            \
    X(cuStreamSynchronize)                                                                         \
    X(cuStreamQuery)                                                                               \
    X(cuEventQuery)                                                                                \
    X(cuCtxSynchronize)

#define CALLED_MEMBER(name) __typeof__(name) *name;
static struct calls {
    CALLED(CALLED_MEMBER)
} own, seen; /* the driver's own, and those that a program gets */

static CUfunction kernel; /* NULL: this driver does not load PTX */
static int cold, blocking, legacy;

/* What a thread works on. */
struct lane {
    CUstream stream, other;
    CUevent event, done;
    CUdeviceptr device;      /* LANE_BYTES */
    unsigned char *pinned;   /* the same */
    unsigned char *pageable; /* LARGE bytes */
};

/* ---- the driver's own functions ---- */

struct table {
    ElfW(Addr) base;
    const ElfW(Sym) * symbols;
    const char *names;
    size_t count;
};

/* The number of symbols stands in the hash table, as the length of the last chain. */
static size_t count_by_hash(const uint32_t *hash)
{
    uint32_t buckets = hash[0], first = hash[1], words = hash[2], last = 0;
    const uint32_t *bucket = hash + 4 + words * (sizeof(ElfW(Addr)) / sizeof *hash);
    const uint32_t *chain = bucket + buckets;
    for (uint32_t i = 0; i < buckets; i++)
        last = bucket[i] > last ? bucket[i] : last;
    while (last >= first && !(chain[last - first] & 1))
        last++;
    return last + 1;
}

static void read_section(struct table *table, const ElfW(Dyn) * entry)
{
    ElfW(Addr) address = entry->d_un.d_ptr;
    const char *at = (const char *)(address < table->base ? table->base + address : address);
    if (entry->d_tag == DT_SYMTAB)
        table->symbols = (const void *)at;
    else if (entry->d_tag == DT_STRTAB)
        table->names = at;
    else if (entry->d_tag == DT_HASH)
        table->count = ((const uint32_t *)at)[1];
    else if (entry->d_tag == DT_GNU_HASH && !table->count)
        table->count = count_by_hash((const void *)at);
}

static int find_driver(struct dl_phdr_info *info, size_t size_bytes, void *argument)
{
    struct table *table = argument;
    (void)size_bytes;
    if (!strstr(info->dlpi_name, "libcuda.so"))
        return 0;
    table->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            for (const ElfW(Dyn) *entry = (const void *)(table->base + info->dlpi_phdr[i].p_vaddr);
                 entry->d_tag != DT_NULL; entry++)
                read_section(table, entry);
    return 1;
}

static void *own_function(const struct table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->symbols[i].st_shndx != SHN_UNDEF &&
            strcmp(table->names + table->symbols[i].st_name, name) == 0)
            return (void *)(table->base + table->symbols[i].st_value);
    fprintf(stderr, "libcuda.so.1 has no %s\n", name);
    exit(2);
}

static void find_functions(void)
{
    struct table table = {0};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    dl_iterate_phdr(find_driver, &table);
#define CALLED_LOOK_UP(name)                                                                       \
    own.name = (__typeof__(name) *)own_function(&table, DRIVER_QUOTE(name));                       \
    seen.name = (__typeof__(name) *)driver_symbol(library, DRIVER_QUOTE(name));
    CALLED(CALLED_LOOK_UP)
}

/* ---- the steps ---- */

typedef void step_function(const struct calls *calls, const struct lane *lane, unsigned i);

static void upload(const struct calls *calls, const struct lane *lane, unsigned i, size_t bytes,
                   CUstream stream)
{
    size_t offset = i % BUFFERS * bytes;
    MUST(calls->cuMemcpyHtoDAsync(lane->device + offset, lane->pinned + offset, bytes, stream));
}

static void h2d_64b(const struct calls *calls, const struct lane *lane, unsigned i)
{
    upload(calls, lane, i, 64, lane->stream);
}

static void h2d_4k(const struct calls *calls, const struct lane *lane, unsigned i)
{
    upload(calls, lane, i, 4 * KB, lane->stream);
}

static void h2d_4k_again(const struct calls *calls, const struct lane *lane, unsigned i)
{
    (void)i;
    upload(calls, lane, 0, 4 * KB, lane->stream);
}

static void h2d_64k(const struct calls *calls, const struct lane *lane, unsigned i)
{
    upload(calls, lane, i, LARGE, lane->stream);
}

static void h2d_legacy(const struct calls *calls, const struct lane *lane, unsigned i)
{
    upload(calls, lane, i, 4 * KB, NULL);
}

static void h2d_per_thread(const struct calls *calls, const struct lane *lane, unsigned i)
{
    upload(calls, lane, i, 4 * KB, CU_STREAM_PER_THREAD);
}

static void h2d_pageable(const struct calls *calls, const struct lane *lane, unsigned i)
{
    (void)i;
    MUST(calls->cuMemcpyHtoDAsync(lane->device, lane->pageable, 4 * KB, lane->stream));
}

static void d2h_4k(const struct calls *calls, const struct lane *lane, unsigned i)
{
    size_t offset = i % BUFFERS * (4 * KB);
    MUST(calls->cuMemcpyDtoHAsync(lane->pinned + offset, lane->device + offset, 4 * KB,
                                  lane->stream));
}

static void memset_4k(const struct calls *calls, const struct lane *lane, unsigned i)
{
    (void)i;
    MUST(calls->cuMemsetD8Async(lane->device, 1, 4 * KB, lane->stream));
}

static void alloc_async(const struct calls *calls, const struct lane *lane, unsigned i)
{
    CUdeviceptr block = 0;
    (void)i;
    MUST(calls->cuMemAllocAsync(&block, 4 * KB, lane->stream));
    MUST(calls->cuMemFreeAsync(block, lane->stream));
}

static void launch(const struct calls *calls, const struct lane *lane, unsigned i)
{
    (void)i;
    MUST(calls->cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, lane->stream, NULL, NULL));
}

static void sync_idle(const struct calls *calls, const struct lane *lane, unsigned i)
{
    (void)i;
    MUST(calls->cuStreamSynchronize(lane->stream));
}

static void sync_context(const struct calls *calls, const struct lane *lane, unsigned i)
{
    (void)lane, (void)i;
    MUST(calls->cuCtxSynchronize());
}

static void query_idle(const struct calls *calls, const struct lane *lane, unsigned i)
{
    (void)i;
    MUST(calls->cuStreamQuery(lane->stream));
}

static void record(const struct calls *calls, const struct lane *lane, unsigned i)
{
    (void)i;
    MUST(calls->cuEventRecord(lane->event, lane->stream));
}

static void record_legacy(const struct calls *calls, const struct lane *lane, unsigned i)
{
    (void)i;
    MUST(calls->cuEventRecord(lane->event, NULL));
}

static void record_query(const struct calls *calls, const struct lane *lane, unsigned i)
{
    record(calls, lane, i);
    (void)calls->cuEventQuery(lane->event); /* may be not ready */
}

static void wait_between(const struct calls *calls, const struct lane *lane, CUstream from,
                         CUstream to)
{
    MUST(calls->cuEventRecord(lane->event, from));
    MUST(calls->cuStreamWaitEvent(to, lane->event, 0));
}

static void wait_other(const struct calls *calls, const struct lane *lane, unsigned i)
{
    (void)i;
    wait_between(calls, lane, lane->other, lane->stream);
}

static void wait_legacy(const struct calls *calls, const struct lane *lane, unsigned i)
{
    (void)i;
    wait_between(calls, lane, lane->other, NULL);
}

static void h2d_launch(const struct calls *calls, const struct lane *lane, unsigned i)
{
    h2d_4k(calls, lane, i);
    launch(calls, lane, i);
}

static void h2d_launch_d2h_sync(const struct calls *calls, const struct lane *lane, unsigned i)
{
    h2d_launch(calls, lane, i);
    d2h_4k(calls, lane, i + BUFFERS / 2);
    MUST(calls->cuStreamSynchronize(lane->stream));
}

static void fill_h2d_sync(const struct calls *calls, const struct lane *lane, unsigned i)
{
    unsigned char *filled = lane->pinned + BUFFERS * LARGE;
    memset(filled, (int)i, FILLED);
    MUST(calls->cuMemcpyHtoDAsync(lane->device, filled, FILLED, lane->stream));
    MUST(calls->cuStreamSynchronize(lane->stream));
}

/* What PyTorch and NCCL call for an all-reduce. `other` is NCCL's own stream, which is ordered with
 * the kernel's stream `on`. */
static void reduce_on(const struct calls *calls, const struct lane *lane, CUstream on)
{
    const CUlaunchConfig config = {1, 1, 1, 32, 1, 1, 0, on, NULL, 0};
    wait_between(calls, lane, lane->other, on);
    MUST(calls->cuLaunchKernelEx(&config, kernel, NULL, NULL));
    wait_between(calls, lane, on, lane->other);
    MUST(calls->cuEventRecordWithFlags(lane->done, on, 0));
    MUST(calls->cuStreamWaitEvent(NULL, lane->done, 0));
}

static void all_reduce(const struct calls *calls, const struct lane *lane, unsigned i)
{
    (void)i;
    reduce_on(calls, lane, NULL);
    MUST(calls->cuCtxSynchronize());
}

static void all_reduce_beside(const struct calls *calls, const struct lane *lane, unsigned i)
{
    (void)i;
    MUST(calls->cuEventRecord(lane->done, NULL));
    MUST(calls->cuStreamWaitEvent(lane->stream, lane->done, 0));
    reduce_on(calls, lane, lane->stream);
    MUST(calls->cuCtxSynchronize());
}

static const struct pattern {
    const char *name;
    step_function *step;
    unsigned steps; /* of a slice: what a queue of the driver takes, and no more than some ms */
    unsigned pairs; /* of slices */
    bool has_kernel;
} patterns[] = {
    {"alloc_async", alloc_async, SLICE_CALLS, PAIRS_MOST, false},
    {"memset_4k", memset_4k, SLICE_CALLS, PAIRS_MOST, false},
    {"h2d_64b", h2d_64b, SLICE_CALLS, PAIRS_MOST, false},
    {"h2d_4k", h2d_4k, SLICE_CALLS, PAIRS_MOST, false},
    {"h2d_4k_again", h2d_4k_again, SLICE_CALLS, PAIRS_MOST, false},
    {"h2d_64k", h2d_64k, SLICE_CALLS, PAIRS_MOST / 2, false},
    {"h2d_legacy", h2d_legacy, SLICE_CALLS, PAIRS_MOST, false},
    {"h2d_per_thread", h2d_per_thread, SLICE_CALLS, PAIRS_MOST, false},
    {"h2d_pageable", h2d_pageable, SLICE_CALLS, PAIRS_MOST, false},
    {"d2h_4k", d2h_4k, SLICE_CALLS, PAIRS_MOST, false},
    {"launch", launch, SLICE_CALLS, PAIRS_MOST, true},
    {"record", record, SLICE_CALLS, PAIRS_MOST, false},
    {"record_legacy", record_legacy, SLICE_CALLS, PAIRS_MOST, false},
    {"record_query", record_query, SLICE_CALLS, PAIRS_MOST, false},
    {"wait_other", wait_other, SLICE_CALLS, PAIRS_MOST, false},
    {"wait_legacy", wait_legacy, SLICE_CALLS, PAIRS_MOST, false},
    {"query_idle", query_idle, SLICE_CALLS, PAIRS_MOST, false},
    {"sync_idle", sync_idle, SLICE_CALLS, PAIRS_MOST, false},
    {"sync_context", sync_context, SLICE_CALLS, PAIRS_MOST, false},
    {"all_reduce", all_reduce, SLICE_CALLS, PAIRS_MOST / 4, true},
    {"all_reduce_beside", all_reduce_beside, SLICE_CALLS, PAIRS_MOST / 4, true},
    {"h2d_launch", h2d_launch, SLICE_CALLS, PAIRS_MOST / 2, true},
    {"h2d_launch_d2h_sync", h2d_launch_d2h_sync, 50, PAIRS_MOST / 2, true},
    {"fill_h2d_sync", fill_h2d_sync, 10, PAIRS_MOST / 4, false},
};

static const char *name_of(size_t i)
{
    return i < sizeof patterns / sizeof *patterns ? patterns[i].name : NULL;
}

/* ---- measuring ---- */

/* A thread of the measurement. All threads run each slice at the same time. */
struct runner {
    const struct pattern *pattern;
    struct lane lane;
    const unsigned char *cold; /* NULL: with a warm cache */
    pthread_barrier_t *barrier;
    pthread_t thread;
    unsigned pairs;
    double own_ns[PAIRS_MOST], seen_ns[PAIRS_MOST]; /* of a step, by slice */
};

/* Each step is timed by itself, less what it takes to read the clock. */
static double cold_slice_ns(const struct runner *runner, const struct calls *calls)
{
    uint64_t took = 0, clock = 0;
    for (unsigned i = 0; i < COLD_STEPS; i++) {
        chill(runner->cold);
        uint64_t before = now_ns();
        uint64_t begin = now_ns();
        runner->pattern->step(calls, &runner->lane, i);
        took += now_ns() - begin;
        clock += begin - before;
    }
    return took > clock ? (double)(took - clock) / COLD_STEPS : 0;
}

static double warm_slice_ns(const struct runner *runner, const struct calls *calls)
{
    uint64_t begin = now_ns();
    for (unsigned i = 0; i < runner->pattern->steps; i++)
        runner->pattern->step(calls, &runner->lane, i);
    return (double)(now_ns() - begin) / runner->pattern->steps;
}

/* All streams are empty before a slice, which the library knows: no page is kept off. */
static double slice_ns(const struct runner *runner, const struct calls *calls)
{
    pthread_barrier_wait(runner->barrier);
    MUST(seen.cuCtxSynchronize());
    pthread_barrier_wait(runner->barrier);
    return runner->cold ? cold_slice_ns(runner, calls) : warm_slice_ns(runner, calls);
}

static void *run(void *argument)
{
    struct runner *runner = argument;
    MUST(driver.cuCtxSetCurrent(driver.primary));
    for (unsigned i = 0; i < runner->pairs + WARM_UP_PAIRS; i++) {
        unsigned at = i < WARM_UP_PAIRS ? 0 : i - WARM_UP_PAIRS;
        if (i % 2)
            runner->own_ns[at] = slice_ns(runner, &own);
        runner->seen_ns[at] = slice_ns(runner, &seen);
        if (i % 2 == 0)
            runner->own_ns[at] = slice_ns(runner, &own);
    }
    return NULL;
}

static void compare(const struct pattern *pattern, struct runner *runners, unsigned threads,
                    unsigned divisor)
{
    static double ratios[PAIRS_MOST], owns[PAIRS_MOST];
    unsigned pairs = pattern->pairs / divisor / (cold ? 5 : 1);
    char figure[64];
    for (unsigned i = 0; i < threads; i++) {
        runners[i].pattern = pattern;
        runners[i].pairs = pairs;
        if (i > 0 && pthread_create(&runners[i].thread, NULL, run, &runners[i]) != 0)
            abort();
    }
    run(runners);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(runners[i].thread, NULL);
    for (unsigned at = 0; at < pairs; at++) {
        double seen_ns = 0, own_ns = 0;
        for (unsigned i = 0; i < threads; i++) {
            seen_ns += runners[i].seen_ns[at];
            own_ns += runners[i].own_ns[at];
        }
        ratios[at] = seen_ns / own_ns;
        owns[at] = own_ns / threads;
    }
    snprintf(figure, sizeof figure, "%s%s%s%s", pattern->name,
             blocking ? "_blocking"
             : legacy ? "_legacy"
                      : "",
             cold ? "_cold" : "", threads > 1 ? "_threads" : "");
    print_figure(figure, median(ratios, pairs), "times");
    printf("# %s: half of the ratios are from %.3f to %.3f; the driver's own %.0f ns\n", figure,
           ratios[pairs / 4], ratios[3 * pairs / 4], median(owns, pairs));
}

static void make_lane(struct lane *lane)
{
    unsigned flags = blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
    MUST(driver.cuStreamCreate(&lane->stream, flags));
    MUST(driver.cuStreamCreate(&lane->other, flags));
    if (legacy)
        lane->stream = CU_STREAM_LEGACY;
    lane->pinned = driver_pinned(LANE_BYTES);
    lane->device = driver_device(LANE_BYTES);
    lane->pageable = malloc(LARGE);
    if (!lane->pageable)
        abort();
    memset(lane->pinned, 1, LANE_BYTES);
    memset(lane->pageable, 1, LARGE);
    MUST(driver.cuEventCreate(&lane->event, CU_EVENT_DISABLE_TIMING));
    MUST(driver.cuEventCreate(&lane->done, CU_EVENT_DISABLE_TIMING));
}

static struct runner *make_runners(unsigned threads)
{
    static pthread_barrier_t barrier;
    struct runner *runners = calloc(threads, sizeof *runners);
    if (!runners || pthread_barrier_init(&barrier, NULL, threads) != 0)
        abort();
    for (unsigned i = 0; i < threads; i++) {
        make_lane(&runners[i].lane);
        runners[i].barrier = &barrier;
        runners[i].cold = cold ? cold_block() : NULL;
    }
    return runners;
}

static unsigned threads_of(const char *text)
{
    char *end;
    unsigned long threads = strtoul(text, &end, 10);
    if (*end || threads < 1 || threads > THREADS_MOST) {
        fprintf(stderr, "in_turn: --threads=%s is no number from 1 to %d\n", text, THREADS_MOST);
        exit(2);
    }
    return (unsigned)threads;
}

int main(int argc, char **argv)
{
    int quick = 0, has_threads = 0;
    const struct option options[] = {{"quick", no_argument, &quick, 1},
                                     {"cold", no_argument, &cold, 1},
                                     {"blocking", no_argument, &blocking, 1},
                                     {"legacy", no_argument, &legacy, 1},
                                     {"threads", required_argument, &has_threads, 1},
                                     CHOICE_LIST,
                                     {NULL, 0, NULL, 0}};
    struct choice choice = choose(argc, argv, options, name_of);
    unsigned threads = has_threads ? threads_of(choice.value) : 1;
    driver_start();
    find_functions();
    kernel = driver_empty_kernel();
    struct runner *runners = make_runners(threads);
    for (size_t i = 0; name_of(i); i++)
        if (is_chosen(&choice, patterns[i].name) && (kernel || !patterns[i].has_kernel))
            compare(&patterns[i], runners, threads, quick ? QUICK_DIVISOR : 1);
    return 0;
}

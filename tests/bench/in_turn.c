/*
 * in_turn: what calls cost under the library against the driver's own functions, in turn within one
 * process: slices of a hundred calls each, so that a clock that moves is the same for both. A
 * figure is the median of the ratios of neighbouring slices. Without the library both are the
 * driver's.
 *
 *     in_turn [--quick] [--list] [NAME...]
 *
 * The driver's own functions are read from the symbol table of libcuda.so.1, which no interposer
 * changes. Operations that are made by them are none that the library sees.
 */
#include "tests/bench/choice.h"
#include "tests/bench/driver.h"
#include "tests/bench/measure.h"

#include <elf.h>
#include <link.h>
#include <string.h>

enum { CALLS = 100, PAIRS_MOST = 4000, QUICK_PAIRS = 400, WARM_UP_PAIRS = 100, BYTES = 4096 };

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
    X(cuCtxSynchronize)

#define CALLED_MEMBER(name) __typeof__(name) *name;
static struct calls {
    CALLED(CALLED_MEMBER)
} own, seen; /* the driver's own, and those that a program gets */

static CUstream stream, other;
static CUevent event, done;
static CUfunction kernel;
static CUdeviceptr device;
static void *pinned;

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

/* ---- the calls ---- */

static void alloc_async(const struct calls *calls)
{
    CUdeviceptr block = 0;
    MUST(calls->cuMemAllocAsync(&block, BYTES, stream));
    MUST(calls->cuMemFreeAsync(block, stream));
}

static void memset_4k(const struct calls *calls)
{
    MUST(calls->cuMemsetD8Async(device, 1, BYTES, stream));
}

static void h2d_4k(const struct calls *calls)
{
    MUST(calls->cuMemcpyHtoDAsync(device, pinned, BYTES, stream));
}

static void d2h_4k(const struct calls *calls)
{
    MUST(calls->cuMemcpyDtoHAsync(pinned, device, BYTES, stream));
}

static void record(const struct calls *calls)
{
    MUST(calls->cuEventRecord(event, stream));
}

static void record_legacy(const struct calls *calls)
{
    MUST(calls->cuEventRecord(event, NULL));
}

static void wait_between(const struct calls *calls, CUstream from, CUstream to)
{
    MUST(calls->cuEventRecord(event, from));
    MUST(calls->cuStreamWaitEvent(to, event, 0));
}

static void wait_other(const struct calls *calls)
{
    wait_between(calls, other, stream);
}

static void wait_legacy(const struct calls *calls)
{
    wait_between(calls, other, NULL);
}

static void sync_context(const struct calls *calls)
{
    MUST(calls->cuCtxSynchronize());
}

/* What PyTorch and NCCL call for an all-reduce. `other` is NCCL's own stream, which is ordered with
 * the kernel's stream `on`. */
static void reduce_on(const struct calls *calls, CUstream on)
{
    const CUlaunchConfig config = {1, 1, 1, 32, 1, 1, 0, on, NULL, 0};
    wait_between(calls, other, on);
    MUST(calls->cuLaunchKernelEx(&config, kernel, NULL, NULL));
    wait_between(calls, on, other);
    MUST(calls->cuEventRecordWithFlags(done, on, 0));
    MUST(calls->cuStreamWaitEvent(NULL, done, 0));
}

static void all_reduce(const struct calls *calls)
{
    reduce_on(calls, NULL);
    MUST(calls->cuCtxSynchronize());
}

static void all_reduce_beside(const struct calls *calls)
{
    MUST(calls->cuEventRecord(done, NULL));
    MUST(calls->cuStreamWaitEvent(stream, done, 0));
    reduce_on(calls, stream);
    MUST(calls->cuCtxSynchronize());
}

static void launch(const struct calls *calls)
{
    MUST(calls->cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
}

static void sync_idle(const struct calls *calls)
{
    MUST(calls->cuStreamSynchronize(stream));
}

static const struct pattern {
    const char *name;
    void (*step)(const struct calls *calls);
    bool has_kernel;
} patterns[] = {
    {"alloc_async", alloc_async, false},
    {"memset_4k", memset_4k, false},
    {"h2d_4k", h2d_4k, false},
    {"d2h_4k", d2h_4k, false},
    {"record", record, false},
    {"record_legacy", record_legacy, false},
    {"wait_other", wait_other, false},
    {"wait_legacy", wait_legacy, false},
    {"launch", launch, true},
    {"sync_idle", sync_idle, false},
    {"sync_context", sync_context, false},
    {"all_reduce", all_reduce, true},
    {"all_reduce_beside", all_reduce_beside, true},
};

static const char *name_of(size_t i)
{
    return i < sizeof patterns / sizeof *patterns ? patterns[i].name : NULL;
}

/* Of one call, in ns. All streams are empty before the slice. */
static double slice_ns(const struct pattern *pattern, const struct calls *calls)
{
    MUST(own.cuCtxSynchronize());
    uint64_t begin = now_ns();
    for (int i = 0; i < CALLS; i++)
        pattern->step(calls);
    return (double)(now_ns() - begin) / CALLS;
}

static void compare(const struct pattern *pattern, unsigned pairs)
{
    static double ratios[PAIRS_MOST], owns[PAIRS_MOST];
    for (unsigned i = 0; i < pairs + WARM_UP_PAIRS; i++) {
        bool is_own_first = i % 2;
        double first = slice_ns(pattern, is_own_first ? &own : &seen);
        double second = slice_ns(pattern, is_own_first ? &seen : &own);
        unsigned at = i < WARM_UP_PAIRS ? 0 : i - WARM_UP_PAIRS;
        owns[at] = is_own_first ? first : second;
        ratios[at] = is_own_first ? second / first : first / second;
    }
    print_figure(pattern->name, median(ratios, pairs), "times");
    printf("# %s: half of the ratios are from %.3f to %.3f; the driver's own %.0f ns\n",
           pattern->name, ratios[pairs / 4], ratios[3 * pairs / 4], median(owns, pairs));
}

int main(int argc, char **argv)
{
    int quick = 0;
    const struct option options[] = {
        {"quick", no_argument, &quick, 1}, CHOICE_LIST, {NULL, 0, NULL, 0}};
    struct choice choice = choose(argc, argv, options, name_of);
    driver_start();
    find_functions();
    stream = driver_stream();
    other = driver_stream();
    kernel = driver_empty_kernel();
    pinned = driver_pinned(BYTES);
    MUST(driver.cuMemAlloc(&device, BYTES));
    MUST(driver.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    MUST(driver.cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    for (size_t i = 0; name_of(i); i++)
        if (is_chosen(&choice, patterns[i].name) && (kernel || !patterns[i].has_kernel))
            compare(&patterns[i], quick ? QUICK_PAIRS : PAIRS_MOST);
    return 0;
}

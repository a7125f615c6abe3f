/*
 * guard: what it costs to guard or snapshot the buffers of correct programs. For pinned buffers of
 * 4 KB to 64 MB:
 *
 *   produce   the CPU writes the buffer, it is copied to the device, the program waits
 *   consume   it is copied from the device, the program waits, the CPU reads it
 *   pipeline  two buffers, each with an event: one is written while the other is copied
 *   issue     4 KB copies out of one buffer, issued in batches without a wait
 *   alloc     cuMemAllocHost and cuMemFreeHost
 *
 *     guard [--quick] [--sync-each] [--list] [NAME...]
 *
 * --sync-each waits after every copy of the pipeline: what a program does today to be safe.
 */
#include "tests/bench/choice.h"
#include "tests/bench/driver.h"
#include "tests/bench/measure.h"

#include <stdbool.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MAX_ITERATIONS = 1000, ISSUED = 100 };

static const struct size {
    const char *name;
    size_t bytes;
    int iterations;
} sizes[] = {
    {"4k", 4096, 1000},
    {"64k", 64 << 10, 1000},
    {"1m", 1 << 20, 400},
    {"16m", (size_t)16 << 20, 60},
    {"64m", (size_t)64 << 20, 25},
};

static int quick, sync_each;
static CUstream stream;
static CUdeviceptr device;
static double times[MAX_ITERATIONS];

static int iterations_of(const struct size *size)
{
    return quick ? size->iterations / 5 : size->iterations;
}

static void print_median_us(const char *what, const struct size *size, size_t count)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s", what, size->name);
    print_figure(name, median(times, count), "us");
}

static double us_since(uint64_t begin_ns)
{
    return (double)(now_ns() - begin_ns) / 1e3;
}

static void produce(const struct size *size)
{
    unsigned char *buffer = driver_pinned(size->bytes);
    int count = iterations_of(size);
    for (int i = 0; i < count; i++) {
        uint64_t begin = now_ns();
        memset(buffer, i, size->bytes);
        MUST(driver.cuMemcpyHtoDAsync(device, buffer, size->bytes, stream));
        MUST(driver.cuStreamSynchronize(stream));
        times[i] = us_since(begin);
    }
    print_median_us("produce", size, (size_t)count);
    MUST(driver.cuMemFreeHost(buffer));
}

static void consume(const struct size *size)
{
    unsigned char *buffer = driver_pinned(size->bytes);
    int count = iterations_of(size);
    volatile unsigned long kept;
    memset(buffer, 1, size->bytes);
    for (int i = 0; i < count; i++) {
        unsigned long sum = 0;
        uint64_t begin = now_ns();
        MUST(driver.cuMemcpyDtoHAsync(buffer, device, size->bytes, stream));
        MUST(driver.cuStreamSynchronize(stream));
        for (size_t at = 0; at < size->bytes; at += sizeof(unsigned long))
            sum += *(const unsigned long *)(const void *)(buffer + at);
        kept = sum;
        times[i] = us_since(begin);
    }
    (void)kept;
    print_median_us("consume", size, (size_t)count);
    MUST(driver.cuMemFreeHost(buffer));
}

/* One figure for the whole run: what counts is how well the two overlap. */
static void pipeline(const struct size *size)
{
    unsigned char *buffers[2] = {driver_pinned(size->bytes), driver_pinned(size->bytes)};
    CUevent copied[2];
    int count = iterations_of(size);
    for (int i = 0; i < 2; i++) {
        memset(buffers[i], 1, size->bytes);
        MUST(driver.cuEventCreate(&copied[i], CU_EVENT_DISABLE_TIMING));
        MUST(driver.cuEventRecord(copied[i], stream));
    }
    for (int repeat = 0; repeat < 5; repeat++) {
        uint64_t begin = now_ns();
        for (int i = 0; i < count; i++) {
            MUST(driver.cuEventSynchronize(copied[i & 1]));
            memset(buffers[i & 1], i, size->bytes);
            MUST(driver.cuMemcpyHtoDAsync(device, buffers[i & 1], size->bytes, stream));
            if (sync_each)
                MUST(driver.cuStreamSynchronize(stream));
            MUST(driver.cuEventRecord(copied[i & 1], stream));
        }
        MUST(driver.cuStreamSynchronize(stream));
        times[repeat] = us_since(begin) / count;
    }
    print_median_us("pipeline", size, 5);
    for (int i = 0; i < 2; i++) {
        MUST(driver.cuEventDestroy(copied[i]));
        MUST(driver.cuMemFreeHost(buffers[i]));
    }
}

static void alloc(const struct size *size)
{
    int count = size->bytes > 1 << 20 ? 9 : 51;
    for (int i = 0; i < count; i++) {
        uint64_t begin = now_ns();
        MUST(driver.cuMemFreeHost(driver_pinned(size->bytes)));
        times[i] = us_since(begin);
    }
    print_median_us("alloc", size, (size_t)count);
}

static double issue_batch(void *buffer)
{
    uint64_t begin = now_ns();
    for (int i = 0; i < ISSUED; i++)
        MUST(driver.cuMemcpyHtoDAsync(device, buffer, 4096, stream));
    double us = us_since(begin) / ISSUED;
    MUST(driver.cuStreamSynchronize(stream));
    return us;
}

static void issue(const struct size *size)
{
    unsigned char *buffer = driver_pinned(4096);
    if (size == &sizes[0])
        measure("issue_4k", "us", (struct effort){5, quick ? 5 : 20}, issue_batch, buffer);
    MUST(driver.cuMemFreeHost(buffer));
}

static const struct benchmark {
    const char *name;
    void (*run)(const struct size *size);
} benchmarks[] = {
    {"produce", produce}, {"consume", consume}, {"pipeline", pipeline},
    {"issue", issue},     {"alloc", alloc},
};

static const char *name_of(size_t i)
{
    return i < COUNT(benchmarks) ? benchmarks[i].name : NULL;
}

int main(int argc, char **argv)
{
    const struct option options[] = {
        {"quick", no_argument, &quick, 1},
        {"sync-each", no_argument, &sync_each, 1},
        CHOICE_LIST,
        {0},
    };
    struct choice choice = choose(argc, argv, options, name_of);
    driver_start();
    stream = driver_stream();
    device = driver_device(sizes[COUNT(sizes) - 1].bytes);
    for (size_t b = 0; b < COUNT(benchmarks); b++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            if (is_chosen(&choice, benchmarks[b].name))
                benchmarks[b].run(&sizes[s]);
    return 0;
}

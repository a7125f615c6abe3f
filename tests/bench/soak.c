// args: 2000000
// sim: late=0:delay=0
// timeout: 300
/*
 * soak: very many small copies, and memory that stays flat. Buffers, streams and events vary,
 * buffers are freed and allocated all the time, and every other stretch of the run never
 * synchronises, so that what is known of finished copies has to be forgotten without being told.
 *
 *     soak [COUNT] [racy]
 *
 * racy frees buffers that are in flight, which the driver's implicit wait makes safe and the
 * library defers. Exits 1 if VmRSS ever rose by GROWTH_LIMIT or more over the most that it was in
 * the first tenth, which has a stretch of either kind: what is in flight comes and goes, a leak
 * only grows.
 */
#include "tests/bench/driver.h"
#include "tests/bench/measure.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

enum {
    STREAMS = 8,
    BUFFERS = 64,
    BUFFER_BYTES = 64 << 10,
    COPY_MOST = 64,
    STRETCHES = 20,
    PACE_EVERY = 1000, /* copies */
    PACE_AHEAD = 2,    /* paces that the device may lag behind */
    EVENT_EVERY = 64,
    CHURN_EVERY = 500,
    SYNC_EVERY = 5000,
    SAMPLES = 200,
    GROWTH_LIMIT = 16 << 20, /* staging and copies of pages have 4 MB each */
};

struct buffer {
    unsigned char *bytes;
    bool registered; /* heap memory; otherwise allocated by the driver */
    CUevent last;    /* after the last copy of the buffer, in its one stream */
    CUstream stream;
};

static struct buffer buffers[BUFFERS];
static CUstream streams[STREAMS], pace_stream;
static CUdeviceptr device;
static atomic_ulong paces_done;
static unsigned long paces;
static bool racy;
static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(((random_state >> 32) * limit) >> 32);
}

static void CUDA_CB pace_done(void *unused)
{
    (void)unused;
    atomic_fetch_add(&paces_done, 1);
}

/* Lets the device lag behind by a bounded number of copies, or memory would show the length of its
 * queue. A stream of its own does it: a host function orders nothing but what its stream holds, so
 * the program learns nothing about the copies. */
static void keep_pace(void)
{
    MUST(driver.cuLaunchHostFunc(pace_stream, pace_done, NULL));
    paces++;
    while (paces - atomic_load(&paces_done) > PACE_AHEAD)
        sleep_ns(20000);
}

static void obtain(struct buffer *buffer)
{
    buffer->registered = random_below(2) != 0;
    buffer->stream = streams[random_below(STREAMS)];
    if (buffer->registered) {
        buffer->bytes = aligned_alloc(4096, BUFFER_BYTES);
        if (!buffer->bytes)
            abort();
        MUST(driver.cuMemHostRegister(buffer->bytes, BUFFER_BYTES, 0));
    } else {
        buffer->bytes = driver_pinned(BUFFER_BYTES);
    }
    MUST(driver.cuEventCreate(&buffer->last, CU_EVENT_DISABLE_TIMING));
}

static void release(struct buffer *buffer)
{
    if (!racy) {
        MUST(driver.cuEventRecord(buffer->last, buffer->stream));
        MUST(driver.cuEventSynchronize(buffer->last));
    }
    MUST(driver.cuEventDestroy(buffer->last));
    if (buffer->registered) {
        MUST(driver.cuMemHostUnregister(buffer->bytes));
        free(buffer->bytes);
    } else {
        MUST(driver.cuMemFreeHost(buffer->bytes));
    }
}

static void copy(struct buffer *buffer)
{
    size_t size_bytes = 8 + random_below(COPY_MOST - 7);
    size_t offset = random_below(BUFFER_BYTES - COPY_MOST);
    CUdeviceptr there = device + (size_t)(buffer - buffers) * BUFFER_BYTES + offset;

    if (random_below(2) != 0)
        MUST(driver.cuMemcpyHtoDAsync(there, buffer->bytes + offset, size_bytes, buffer->stream));
    else
        MUST(driver.cuMemcpyDtoHAsync(buffer->bytes + offset, there, size_bytes, buffer->stream));
}

/* What a program does between copies and waits for nothing. */
static void order_streams(struct buffer *buffer)
{
    MUST(driver.cuEventRecord(buffer->last, buffer->stream));
    if (random_below(4) == 0)
        MUST(driver.cuStreamWaitEvent(streams[random_below(STREAMS)], buffer->last, 0));
}

static void churn(void)
{
    struct buffer *buffer = &buffers[random_below(BUFFERS)];

    release(buffer);
    obtain(buffer);
}

static void synchronise(void)
{
    const struct buffer *buffer = &buffers[random_below(BUFFERS)];

    switch (random_below(4)) {
    case 0:
        MUST(driver.cuCtxSynchronize());
        break;
    case 1:
        MUST(driver.cuStreamSynchronize(streams[random_below(STREAMS)]));
        break;
    case 2:
        MUST(driver.cuEventSynchronize(buffer->last));
        break;
    default:
        driver.cuEventQuery(buffer->last);
    }
}

static void set_up(void)
{
    driver_start();
    device = driver_device((size_t)BUFFERS * BUFFER_BYTES);
    pace_stream = driver_stream();
    for (size_t i = 0; i < STREAMS; i++)
        streams[i] = driver_stream();
    for (size_t i = 0; i < BUFFERS; i++)
        obtain(&buffers[i]);
}

struct memory {
    size_t start; /* the most in the first tenth */
    size_t peak;  /* the most of all */
    size_t end;
};

static void sample(struct memory *memory, bool warm)
{
    size_t now = rss_bytes();

    if (now > memory->peak)
        memory->peak = now;
    if (!warm)
        memory->start = memory->peak;
    memory->end = now;
}

static void step(unsigned long i, bool silent)
{
    struct buffer *buffer = &buffers[random_below(BUFFERS)];

    copy(buffer);
    if (i % EVENT_EVERY == 0)
        order_streams(buffer);
    if (i % PACE_EVERY == 0)
        keep_pace();
    if (silent)
        return;
    if (i % CHURN_EVERY == 0)
        churn();
    if (i % SYNC_EVERY == 0)
        synchronise();
}

static struct memory soak(unsigned long count)
{
    const unsigned long stretch = count / STRETCHES + 1, between = count / SAMPLES + 1;
    struct memory memory = {0};

    for (unsigned long i = 0; i < count; i++) {
        step(i, i / stretch % 2 == 0);
        if (i % between == 0)
            sample(&memory, i > count / 10);
    }
    sample(&memory, true);
    MUST(driver.cuCtxSynchronize());
    return memory;
}

int main(int argc, char **argv)
{
    const double mb = 1 << 20;
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000000;
    uint64_t begin_ns = now_ns();

    racy = argc > 2 && strcmp(argv[2], "racy") == 0;
    set_up();
    struct memory memory = soak(count);
    printf("soak: %lu copies, RSS start %.1f peak %.1f end %.1f MB, %.1f s\n", count,
           (double)memory.start / mb, (double)memory.peak / mb, (double)memory.end / mb,
           (double)(now_ns() - begin_ns) / 1e9);
    return memory.peak - memory.start < GROWTH_LIMIT ? 0 : 1;
}

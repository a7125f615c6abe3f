/* Flushes beside work that is held, and records that are dropped. */
#include "records.h"

#include <pthread.h>
#include <sched.h>

/* ---- Q6: flushing while work is held ---- */

static _Atomic bool in_wait;

static void *wait_elsewhere(void *unused)
{
    (void)unused;
    TRY(cuCtxSetCurrent(primary));
    atomic_store(&in_wait, true);
    TRY(cuStreamSynchronize(stream));
    return NULL;
}

static void *free_elsewhere(void *what)
{
    TRY(cuCtxSetCurrent(primary));
    atomic_store(&in_wait, true);
    TRY(cuMemFreeHost(what));
    return NULL;
}

static void flush_timed(const char *name, uint32_t flag)
{
    uint64_t start = now_ns();
    CUptiResult rc = cupti.flush(flag);

    say(" %s CUPTI %d in %.3f ms:", name, (int)rc, ms_since(start));
    tell_client(&us);
}

void q6(void)
{
    pthread_t thread;
    void *other = NULL;

    say("Q6 a stream is held for 300 ms, a copy behind it, one in another stream is done:");
    if (!begin())
        return;
    TRY(cuMemAllocHost(&other, 4 * KB));
    start_us();
    hold_stream(stream, 300);
    copy_small();
    TRY(cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream2));
    TRY(cuStreamSynchronize(stream2));
    flush_timed("flush(0)", 0);
    flush_timed("again", 0);
    if (pthread_create(&thread, NULL, wait_elsewhere, NULL) == 0) {
        while (!atomic_load(&in_wait))
            sched_yield();
        sleep_ms(5);
        flush_timed("with a thread in cuStreamSynchronize", 0);
        pthread_join(thread, NULL);
    }
    flush_timed("after the hold", 0);
    end_line();
    say("Q6 a copy 2 is issued first, then 1 behind the hold: is the complete one behind it "
        "there?");
    reset();
    hold_stream(stream, 100);
    copy_small();
    TRY(cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream2));
    TRY(cuStreamSynchronize(stream2));
    flush_timed("flush(0)", 0);
    flush_timed("flush(1)", 1);
    TRY(cuStreamSynchronize(stream));
    flush_timed("and when it is done flush(0)", 0);
    flush_timed("flush(1)", 1);
    end_line();
    say("Q6 a thread is in cuMemFreeHost, which waits:");
    reset();
    atomic_store(&in_wait, false);
    hold_stream(stream, 200);
    copy_small();
    if (pthread_create(&thread, NULL, free_elsewhere, other) == 0) {
        while (!atomic_load(&in_wait))
            sched_yield();
        sleep_ms(20);
        flush_timed("flush(0)", 0);
        uint64_t start = now_ns();
        CUresult rc = cuStreamQuery(stream2);
        say(" a stream query beside it %d in %.3f ms", (int)rc, ms_since(start));
        pthread_join(thread, NULL);
    }
    end_line();
}

/* What other threads' calls take while one waits in cuMemFreeHost, and a flush with it. */
static _Atomic bool flush_ends;

static void *flush_once(void *unused)
{
    (void)unused;
    cupti.flush(0);
    atomic_store(&flush_ends, true);
    return NULL;
}

static void time_call(const char *name, CUresult rc, uint64_t start_ns)
{
    say(" %s %d in %.3f ms,", name, (int)rc, ms_since(start_ns));
}

static void calls_beside(bool with_flush)
{
    pthread_t freeing, flushing_thread;
    void *other = NULL;
    CUevent event;

    say("Q6 a thread waits in cuMemFreeHost%s:", with_flush ? ", another in flush(0)" : "");
    if (!begin())
        return;
    TRY(cuMemAllocHost(&other, 4 * KB));
    TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    start_us();
    copy_small();
    TRY(cuStreamSynchronize(stream));
    hold_stream(stream, 200);
    copy_small();
    if (pthread_create(&freeing, NULL, free_elsewhere, other) != 0)
        return;
    sleep_ms(20);
    if (with_flush && pthread_create(&flushing_thread, NULL, flush_once, NULL) != 0)
        return;
    sleep_ms(5);
    say(" flush has ended: %d,", (int)flush_ends);
#define TIME(call)                                                                                 \
    do {                                                                                           \
        uint64_t start_ns = now_ns();                                                              \
        CUresult rc = call;                                                                        \
        time_call(#call, rc, start_ns);                                                            \
    } while (0)
    TIME(cuStreamQuery(stream2));
    TIME(cuEventQuery(event));
    TIME(cuEventRecord(event, stream2));
    TIME(cuLaunchKernel(empty_kernel, 1, 1, 1, 1, 1, 1, 0, stream2, NULL, NULL));
    TIME(cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream2));
#undef TIME
    pthread_join(freeing, NULL);
    if (with_flush)
        pthread_join(flushing_thread, NULL);
    end_line();
}

void calls_beside_free(void)
{
    calls_beside(false);
}

void calls_beside_flush(void)
{
    calls_beside(true);
}

/* A flush on a thread of its own, all the time: what it costs who issues. */
static _Atomic bool flushing;

static void *flush_always(void *unused)
{
    (void)unused;
    while (atomic_load(&flushing))
        cupti.flush(0);
    return NULL;
}

void flush_beside(void)
{
    pthread_t thread;

    say("Q6 a 4 KB copy takes");
    if (!begin())
        return;
    start_us();
    say(" %.0f ns", best_of(40, copy_ns));
    atomic_store(&flushing, true);
    if (pthread_create(&thread, NULL, flush_always, NULL) != 0)
        return;
    say(", %.0f while another thread flushes without a pause", best_of(40, copy_ns));
    atomic_store(&flushing, false);
    pthread_join(thread, NULL);
    end_line();
}

/* ---- Q7: dropped records ---- */

static void dropped_when(const char *name, int limit, size_t bytes, bool zero)
{
    size_t dropped = 0;

    reset();
    us.limit = limit;
    us.zero = zero;
    us.buffer_bytes = bytes;
    hundred_copies();
    TRY_CUPTI(cupti.flush(0));
    CUptiResult rc = cupti.dropped(NULL, 0, &dropped);
    size_t of_context = 0;
    CUptiResult rc2 = cupti.dropped(primary, 0, &of_context);
    say(" %s:", name);
    tell_client(&us);
    say(" dropped %zu (CUPTI %d), of the context %zu (CUPTI %d)", dropped, (int)rc, of_context,
        (int)rc2);
}

void q7(void)
{
    say("Q7 100 copies,");
    if (!begin())
        return;
    us.buffer_bytes = 1 * KB;
    us.limit = 0;
    start_us();
    dropped_when("no buffer at all", 0, 1 * KB, false);
    dropped_when("2 buffers of 1 KB", 2, 1 * KB, false);
    end_line();
    say("Q7");
    dropped_when("then size 0 instead of NULL", 2, 1 * KB, true);
    dropped_when("a buffer of 64 bytes", 2, 64, false);
    dropped_when("enough again", -1, 8 * KB, false);
    end_line();
}

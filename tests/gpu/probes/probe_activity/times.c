/* The clock of records, and when their buffers come. */
#include "records.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* ---- Q4: clocks ---- */

static _Atomic unsigned clock_calls;
static _Atomic bool clock_elsewhere;
static long clock_caller;

static uint64_t CUPTIAPI monotonic(void)
{
    atomic_fetch_add(&clock_calls, 1);
    if (thread_id() != clock_caller)
        atomic_store(&clock_elsewhere, true);
    return now_ns();
}

static uint64_t clock_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void clocks(void)
{
    int64_t least_real = INT64_MAX, least_mono = INT64_MAX, least_raw = INT64_MAX;

    for (int i = 0; i < 1000; i++) {
        int64_t real = (int64_t)(clock_ns(CLOCK_REALTIME) - cupti_now());
        int64_t mono = (int64_t)(clock_ns(CLOCK_MONOTONIC) - cupti_now());
        int64_t raw = (int64_t)(clock_ns(CLOCK_MONOTONIC_RAW) - cupti_now());
        if (llabs(real) < llabs(least_real))
            least_real = real;
        if (llabs(mono) < llabs(least_mono))
            least_mono = mono;
        if (llabs(raw) < llabs(least_raw))
            least_raw = raw;
    }
    say(" cuptiGetTimestamp: REALTIME %+.3f ms, MONOTONIC %+.3f ms, MONOTONIC_RAW %+.3f ms",
        -(double)least_real / 1e6, -(double)least_mono / 1e6, -(double)least_raw / 1e6);
    uint64_t start = now_ns();
    for (int i = 0; i < 1000; i++)
        cupti_now();
    say(", takes %.0f ns", ms_since(start) * 1e3);
}

/* Held for 30 ms, then 64 MB: the record must begin when the host function ended, and end before
 * the synchronise does. */
static void held_copy(const char *name, bool is_monotonic)
{
    kept_count = 0;
    hold_stream(stream, 30);
    TRY(cuMemcpyHtoDAsync(dev, pinned, BIG, stream));
    TRY(cuStreamSynchronize(stream));
    uint64_t synced = now_ns();
    int64_t skew = is_monotonic ? 0 : (int64_t)(cupti_now() - now_ns());
    TRY_CUPTI(cupti.flush(0));
    if (kept_count == 0) {
        say(" %s: no record", name);
        return;
    }
    say(" %s: starts %.1f us after the hold, ends %.1f us before the synchronise, lasts %.1f us;",
        name, (double)((int64_t)(kept[0].start - held_until_ns) - skew) / 1e3,
        (double)((int64_t)(synced - kept[0].end) + skew) / 1e3,
        (double)(kept[0].end - kept[0].start) / 1e3);
}

void q4(void)
{
    say("Q4");
    if (!begin())
        return;
    clocks();
    start_us();
    held_copy("default clock", false);
    held_copy("again", false);
    clock_caller = thread_id();
    say(" timestamp callback while enabled CUPTI %d", (int)cupti.timestamps(monotonic));
    held_copy("then", true);
    sleep_ms(2000);
    held_copy("2 s later", true);
    say(" called %u times, elsewhere: %d", clock_calls, (int)clock_elsewhere);
    end_line();
}

void early_clock(void)
{
    say("Q4 timestamp callback before anything:");
    if (!load())
        return;
    clock_caller = thread_id();
    say(" CUPTI %d", (int)cupti.timestamps(monotonic));
    start_us();
    if (set_up() != CUDA_SUCCESS)
        return;
    say(", cuptiGetTimestamp %+.3f ms from MONOTONIC",
        (double)(int64_t)(cupti_now() - now_ns()) / 1e6);
    held_copy("monotonic", true);
    held_copy("again", true);
    unsigned before = clock_calls;
    for (int i = 0; i < 100; i++)
        copy_small();
    say(" 100 copies call it %u times, elsewhere: %d", clock_calls - before, (int)clock_elsewhere);
    end_line();
}

/* ---- Q5: when buffers come ---- */

static void *copy_elsewhere(void *unused)
{
    (void)unused;
    TRY(cuCtxSetCurrent(primary));
    copy_small();
    TRY(cuStreamSynchronize(stream));
    say(" (its request on itself: %s)", us.request_thread == thread_id() ? "yes" : "no");
    return NULL;
}

void q5(void)
{
    say("Q5 buffers of 8 KB:");
    if (!begin())
        return;
    us.buffer_bytes = 8 * KB;
    us.request_thread = 0;
    start_us();
    tell_client(&us);
    copy_small();
    say(" after one copy:");
    tell_client(&us);
    say(" requested on the caller: %s", us.request_thread == thread_id() ? "yes" : "no");
    hundred_copies();
    say(", after 100 copies and a synchronise:");
    tell_client(&us);
    sleep_ms(300);
    say(" 300 ms later:");
    tell_client(&us);
    say(" completed on the caller: %s", us.complete_thread == thread_id() ? "yes" : "no");
    TRY_CUPTI(cupti.flush(0));
    say(", after flush(0):");
    tell_client(&us);
    say(" completed on the caller: %s", us.complete_thread == thread_id() ? "yes" : "no");
    end_line();
    say("Q5 copies from another thread:");
    pthread_t thread;
    if (pthread_create(&thread, NULL, copy_elsewhere, NULL) == 0)
        pthread_join(thread, NULL);
    tell_client(&us);
    TRY_CUPTI(cupti.flush(0));
    say(" flush(0) here:");
    tell_client(&us);
    end_line();
    say("Q5 a flush period of 10 ms:");
    reset();
    CUptiResult rc = cupti.flush_period(10);
    copy_small();
    TRY(cuStreamSynchronize(stream));
    sleep_ms(200);
    say(" CUPTI %d", (int)rc);
    tell_client(&us);
    say(" completed on the caller: %s, threads:", us.complete_thread == thread_id() ? "yes" : "no");
    list_threads();
    end_line();
}

/* How long behind its completion a record is there. */
void lag(void)
{
    double worst_us = 0, sum_us = 0;
    unsigned flushes = 0, missing = 0;

    say("Q5 lag of a record behind a completed copy:");
    if (!begin())
        return;
    start_us();
    copy_small();
    TRY(cuStreamSynchronize(stream));
    TRY_CUPTI(cupti.flush(0));
    for (int i = 0; i < 200; i++) {
        kept_count = 0;
        copy_small();
        while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
            ;
        uint64_t done = now_ns();
        while (kept_count == 0 && now_ns() - done < 50 * 1000000U) {
            cupti.flush(0);
            flushes++;
        }
        double took = (double)(now_ns() - done) / 1e3;
        missing += kept_count == 0;
        sum_us += took;
        worst_us = took > worst_us ? took : worst_us;
    }
    say(" mean %.1f us, worst %.1f us, %.2f flushes each, never %u of 200", sum_us / 200, worst_us,
        flushes / 200.0, missing);
    uint64_t start = now_ns();
    for (int i = 0; i < 100; i++)
        cupti.flush(0);
    say("; an idle flush(0) takes %.1f us", ms_since(start) * 10);
    end_line();
}

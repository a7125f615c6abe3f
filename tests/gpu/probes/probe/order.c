/* What streams, events and queries order, and what they prove. */
#include "world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* ---- Q1 to Q4: what the legacy stream orders, and what events and queries see of it ---- */

static void event_after_work(const char *label, CUstream busy, CUstream recorded)
{
    for (enum work work = KERNEL; work < WORKS; work++) {
        occupy(work, busy, BUSY_MS);
        TRY(cuEventRecord(event, recorded));
        CUresult at_once = cuEventQuery(event);
        uint64_t start = now_ns();
        TRY(cuEventSynchronize(event));
        double waited = ms_since(start);
        settle();
        say(" %s %s %s (synchronize %.1f);", label, work_names[work], readiness(at_once), waited);
    }
}

void q1(void)
{
    event_after_work("L busy, event on idle B:", LEGACY, blocking);
}

void q2(void)
{
    event_after_work("B busy:", blocking, LEGACY);
    event_after_work("N busy:", nonblocking, LEGACY);
}

static void stream_while_busy(const char *label, CUstream busy, CUstream asked)
{
    for (enum work work = KERNEL; work < WORKS; work++) {
        occupy(work, busy, BUSY_MS);
        CUresult at_once = cuStreamQuery(asked);
        double waited = MS(cuStreamSynchronize(asked));
        settle();
        say(" %s %s query %s, synchronize %.3f;", label, work_names[work], readiness(at_once),
            waited);
    }
}

void q3(void)
{
    stream_while_busy("B busy:", blocking, LEGACY);
    stream_while_busy("N busy:", nonblocking, LEGACY);
}

void q4(void)
{
    stream_while_busy("ask B:", LEGACY, blocking);
    stream_while_busy("ask N:", LEGACY, nonblocking);
}

/* ---- Q15, Q16: streams destroyed early, events recorded elsewhere ---- */

void q15(void)
{
    CUstream stream = NULL;

    memset(pinned, 0, 4 * KB);
    TRY(cuMemsetD8(dev_a, 0xcd, 4 * KB));
    settle();
    TRY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    occupy(KERNEL, stream, BUSY_MS);
    TRY(cuEventRecord(event, stream));
    TRY(cuMemcpyDtoHAsync(pinned, dev_a, 4 * KB, stream));
    TRY(cuEventRecord(event2, stream));
    say(" destroy %.3f,", MS(cuStreamDestroy(stream)));
    say(" event before the copy %s,", readiness(cuEventQuery(event)));
    say(" event after it %s,", readiness(cuEventQuery(event2)));
    say(" synchronize before %.1f,", MS(cuEventSynchronize(event)));
    say(" after %.1f,", MS(cuEventSynchronize(event2)));
    say(" data %s,", pinned[0] == 0xcd && pinned[4 * KB - 1] == 0xcd ? "landed" : "MISSING");
    say(" later query %s", readiness(cuEventQuery(event2)));
}

static CUresult record_on_blocking(void *unused)
{
    (void)unused;
    return cuEventRecord(event, blocking);
}

static CUresult record_often(void *unused)
{
    CUresult first_error = CUDA_SUCCESS;

    (void)unused;
    for (int i = 0; i < 10000; i++) {
        CUresult rc = cuEventRecord(event2, nonblocking);
        if (first_error == CUDA_SUCCESS)
            first_error = rc;
    }
    return first_error;
}

void q16(void)
{
    struct thread_call often = {record_often, NULL, primary, CUDA_ERROR_UNKNOWN};
    pthread_t thread;
    CUresult copies = CUDA_SUCCESS;

    occupy(KERNEL, blocking, BUSY_MS);
    CUresult rc = on_other_thread(record_on_blocking, NULL, primary);
    say(" context current %d, then query %s,", (int)rc, readiness(cuEventQuery(event)));
    say(" no context current %d,", (int)on_other_thread(record_on_blocking, NULL, NULL));
    settle();
    if (pthread_create(&thread, NULL, run_thread_call, &often) != 0)
        return;
    for (int i = 0; i < 10000 && copies == CUDA_SUCCESS; i++)
        copies = cuMemcpyHtoDAsync(dev_a, pinned, 64, nonblocking);
    pthread_join(thread, NULL);
    settle();
    say(" 10,000 records beside 10,000 copies on that stream: records %d, copies %d, event %s",
        (int)often.result, (int)copies, readiness(cuEventQuery(event2)));
}

/* ---- Q23, Q24: what a started host function and an early event prove ---- */

static atomic_uint callbacks, stale_callbacks;

static void CUDA_CB look_at_pinned(void *expected)
{
    unsigned char value = (unsigned char)(uintptr_t)expected;

    atomic_fetch_add(&callbacks, 1);
    if (pinned[0] != value || pinned[MB - 1] != value)
        atomic_fetch_add(&stale_callbacks, 1);
}

void q23(void)
{
    atomic_store(&callbacks, 0);
    atomic_store(&stale_callbacks, 0);
    for (unsigned i = 1; i <= 100; i++) {
        TRY(cuMemsetD8Async(dev_a, (unsigned char)i, MB, nonblocking));
        TRY(cuMemcpyDtoHAsync(pinned, dev_a, MB, nonblocking));
        TRY(cuLaunchHostFunc(nonblocking, look_at_pinned, (void *)(uintptr_t)i));
    }
    settle();
    say(" %u callbacks, %u saw stale bytes", atomic_load(&callbacks),
        atomic_load(&stale_callbacks));
}

/* 50 ms and a copy on L, an event on `stream`, then BUSY_MS more on L: when is the event done? */
static void early_event(const char *label, enum work work, CUstream stream)
{
    memset(pinned, 0, 4 * KB);
    uint64_t start = now_ns();
    occupy(work, LEGACY, 50);
    TRY(cuMemcpyDtoHAsync(pinned, dev_a, 4 * KB, LEGACY));
    TRY(cuEventRecord(event, stream));
    CUresult at_once = cuEventQuery(event);
    occupy(work, LEGACY, BUSY_MS);
    CUresult rc;
    while ((rc = cuEventQuery(event)) == CUDA_ERROR_NOT_READY && ms_since(start) < 1000)
        sleep_ms(1);
    double done = ms_since(start);
    bool landed = pinned[0] == 0x5a && pinned[4 * KB - 1] == 0x5a;
    settle();
    say(" %s %s: at once %s, %s after %.1f of 150 (%s), copy %s;", label, work_names[work],
        readiness(at_once), readiness(rc), done, done < 100 ? "early" : "with the later kernel",
        landed ? "landed" : "NOT landed");
}

void q24(void)
{
    TRY(cuMemsetD8(dev_a, 0x5a, 4 * KB));
    settle();
    for (enum work work = KERNEL; work < WORKS; work++) {
        CUstream fresh = NULL;
        TRY(cuStreamCreate(&fresh, CU_STREAM_DEFAULT));
        early_event("fresh B", work, fresh);
        early_event("L itself", work, LEGACY);
        TRY(cuStreamDestroy(fresh));
    }
}

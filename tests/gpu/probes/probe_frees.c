/* probe_frees: asks the CUDA driver which frees wait for the whole context, by size, and whether
 * they do while a stream captures. The answers are in docs/driver.md.
 *
 *     gcc -std=gnu11 -O2 -pthread -I. -I/usr/local/cuda/include tests/gpu/probes/probe_frees.c \
 *         tests/gpu/asking.c -o probe_frees -ldl -lcuda
 *     ./probe_frees               every question, under 40 s
 *
 * A number is the time of a call in ms behind BUSY_MS on a non-blocking stream; `late`: the host
 * function there had not ended when the call returned.
 */
#include "../asking.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BUSY_MS = 40 };

static struct {
    CUstream busy, capturing;
    CUdeviceptr device;
    void *pinned;
} w;
static atomic_bool ended;

static CUresult set_up(void)
{
    enter_primary();
    w.busy = new_stream(CU_STREAM_NON_BLOCKING);
    w.capturing = new_stream(CU_STREAM_NON_BLOCKING);
    w.device = device_block();
    w.pinned = pinned_block();
    return CUDA_SUCCESS;
}

static void CUDA_CB hold(void *unused)
{
    (void)unused;
    sleep_ms(BUSY_MS);
    atomic_store(&ended, true);
}

static void make_busy(void)
{
    atomic_store(&ended, false);
    TRY(cuLaunchHostFunc(w.busy, hold, NULL));
}

static void tell(const char *what, size_t size_bytes, double took_ms)
{
    say(" %s %s %.0f%s", what, size_text(size_bytes), took_ms, atomic_load(&ended) ? "" : " late");
}

static void wait_for_it(void)
{
    TRY(cuStreamSynchronize(w.busy));
}

static void ask_all_frees(void)
{
    static const size_t sizes[] = {16, 4 * KB, 64 * KB, 512 * KB, 4 * MB, 64 * MB};
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        CUdeviceptr block = 0;
        void *pinned = NULL;
        void *registered = aligned_alloc(4 * KB, (sizes[i] + 4 * KB - 1) / (4 * KB) * (4 * KB));
        TRY(cuMemAlloc(&block, sizes[i]));
        TRY(cuMemHostAlloc(&pinned, sizes[i], 0));
        TRY(cuMemHostRegister(registered, sizes[i], 0));
        make_busy();
        tell("free", sizes[i], MS(cuMemFree(block)));
        wait_for_it();
        make_busy();
        tell("host", sizes[i], MS(cuMemFreeHost(pinned)));
        wait_for_it();
        make_busy();
        tell("unregister", sizes[i], MS(cuMemHostUnregister(registered)));
        wait_for_it();
        free(registered);
    }
    end_line();
}

static void *begin_capture(void *unused)
{
    TRY(cuCtxSetCurrent(primary));
    TRY(cuStreamBeginCapture(w.capturing, CU_STREAM_CAPTURE_MODE_RELAXED));
    return unused;
}

static void end_capture(void)
{
    CUgraph graph = NULL;
    TRY(cuStreamEndCapture(w.capturing, &graph));
    if (graph)
        TRY(cuGraphDestroy(graph));
}

static void ask_plain(void)
{
    say("no capture:");
    ask_all_frees();
}

/* Another thread's is begun there, and ended here if the mode allows that. */
static void ask_captures(void)
{
    CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    say("own relaxed capture:");
    TRY(cuStreamBeginCapture(w.capturing, CU_STREAM_CAPTURE_MODE_RELAXED));
    ask_all_frees();
    end_capture();
    say("another thread's relaxed capture:");
    pthread_t thread;
    pthread_create(&thread, NULL, begin_capture, NULL);
    pthread_join(thread, NULL);
    TRY(cuThreadExchangeStreamCaptureMode(&relaxed));
    ask_all_frees();
    TRY(cuThreadExchangeStreamCaptureMode(&relaxed));
    end_capture();
}

/* Behind the host function there is a copy, too, and a wait of another stream. */
static void ask_chains(void)
{
    CUstream behind = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event();
    CUdeviceptr block = 0;
    for (unsigned i = 0; i < 3; i++) {
        TRY(cuMemAlloc(&block, 512));
        make_busy();
        TRY(cuMemcpyDtoHAsync(w.pinned, w.device, 64, w.busy));
        TRY(cuEventRecord(event, w.busy));
        TRY(cuStreamWaitEvent(behind, event, 0));
        TRY(cuMemcpyHtoDAsync(w.device, w.pinned, 64, behind));
        say(" %.0f%s", MS(cuMemFree(block)), atomic_load(&ended) ? "" : " late");
        say(" query %d", (int)cuStreamQuery(behind));
        TRY(cuCtxSynchronize());
    }
}

static const struct question questions[] = {
    {.name = "plain", .ask = ask_plain},
    {.name = "captures", .ask = ask_captures},
    {.name = "chains", .ask = ask_chains, .text = "a free behind a chain"},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_frees",
        .questions = questions,
        .count = COUNT(questions),
        .set_up = set_up,
        .question_s = 60,
    };

    return ask_all(&inquiry, argc, argv);
}

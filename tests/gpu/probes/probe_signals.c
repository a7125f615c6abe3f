/* probe_signals: asks the CUDA driver whether an event that was recorded before a stream writes a
 * word is ready when the host sees the word. The answers are in docs/driver.md.
 *
 *     gcc -std=gnu11 -O2 -pthread -I. -I/usr/local/cuda/include tests/gpu/probes/probe_signals.c \
 *         tests/gpu/asking.c -o probe_signals -ldl -lcuda
 *     ./probe_signals              every question, under a minute
 *
 * A kernel holds one stream, an event is recorded, and a word is written, all in streams that the
 * line names: L is the legacy stream, B a blocking one, M another one, which has no work, N and X
 * are not blocking. The line says how often of ROUNDS the event was not ready at once when the host
 * had seen the word, and how late it was ready at most; without more work, with a kernel behind the
 * word in its stream, and with a wait for the event just before the word. `crowd`: the same while
 * many more streams have kernels than the device has queues, so that streams share them.
 */
#include "../asking.h"

enum { ROUNDS = 300, HOLD_MS = 1, CROWD = 60, CROWD_MS = 3 };

static struct {
    CUstream b, m, n, x;
    CUstream crowd[CROWD];
    bool is_crowded;
    CUdeviceptr device;
    volatile uint32_t *word;
    uint32_t value;
    CUfunction spin;
    CUevent event, gate;
} w;

static CUresult set_up(void)
{
    CUmodule module = NULL;

    enter_primary();
    for (unsigned i = 0; i < CROWD / 2; i++)
        w.crowd[i] = new_stream(CU_STREAM_NON_BLOCKING);
    w.b = new_stream(CU_STREAM_DEFAULT);
    w.m = new_stream(CU_STREAM_DEFAULT);
    w.n = new_stream(CU_STREAM_NON_BLOCKING);
    w.x = new_stream(CU_STREAM_NON_BLOCKING);
    for (unsigned i = CROWD / 2; i < CROWD; i++)
        w.crowd[i] = new_stream(CU_STREAM_NON_BLOCKING);
    w.device = device_block();
    w.word = pinned_block();
    w.spin = load_kernel("spin", &module);
    w.event = new_event();
    w.gate = new_event();
    settle();
    return CUDA_SUCCESS;
}

static void hold(CUstream stream)
{
    launch_spin(w.spin, stream, HOLD_MS);
}

static void set(CUstream stream)
{
    TRY(cuMemsetD8Async(w.device, 1, 4096, stream));
}

/* ---- what is before the event; what is between the event and the word ---- */

static void work_on_b(void)
{
    hold(w.b);
}

static void work_on_n(void)
{
    hold(w.n);
}

static void work_on_legacy(void)
{
    hold(LEGACY);
}

static void work_on_b_then_legacy(void)
{
    hold(w.b);
    set(w.b);
    set(LEGACY);
}

static void gated(void)
{
    hold(w.x);
    TRY(cuEventRecord(w.gate, w.x));
    TRY(cuCtxWaitEvent(primary, w.gate));
}

/* X, which writes the word, waits for what is before it in the other stream. */
static void x_waits(CUstream stream)
{
    set(stream);
    TRY(cuEventRecord(w.gate, stream));
    TRY(cuStreamWaitEvent(w.x, w.gate, 0));
}

static const struct way {
    const char *name;
    void (*before)(void);
    CUstream *event, *word; /* NULL: the legacy stream */
    bool elsewhere;         /* the word's stream waits for the event's */
} ways[] = {
    {"N has a kernel: event in N, word in N", work_on_n, &w.n, &w.n, false},
    {"B has a kernel: event in B, word in B", work_on_b, &w.b, &w.b, false},
    {"L has a kernel: event in L, word in L", work_on_legacy, NULL, NULL, false},
    {"L has a kernel: event in B, word in B", work_on_legacy, &w.b, &w.b, false},
    {"L has a kernel: event in M, word in L", work_on_legacy, &w.m, NULL, false},
    {"B has a kernel: event in B, word in L", work_on_b, &w.b, NULL, false},
    {"B has a kernel, L a memset: event in B, word in L", work_on_b_then_legacy, &w.b, NULL, false},
    {"the context waits: event in N, word in N", gated, &w.n, &w.n, false},
    {"the context waits: event in B, word in B", gated, &w.b, &w.b, false},
    {"N has a kernel: event in N, a memset, X waits for N, word in X", work_on_n, &w.n, &w.x, true},
    {"L has a kernel: event in B, a memset, X waits for B, word in X", work_on_legacy, &w.b, &w.x,
     true},
};

static CUstream named(CUstream *stream)
{
    return stream ? *stream : LEGACY;
}

/* How much later than the word, in ns; 0: before. */
static uint64_t event_is_late(const struct way *way, bool behind, bool waits)
{
    settle();
    for (unsigned i = 0; w.is_crowded && i < CROWD; i++)
        launch_spin(w.spin, w.crowd[i], CROWD_MS);
    way->before();
    TRY(cuEventRecord(w.event, named(way->event)));
    if (way->elsewhere)
        x_waits(named(way->event));
    if (waits)
        TRY(cuStreamWaitEvent(named(way->word), w.event, 0));
    TRY(cuStreamWriteValue32(named(way->word), uva((const void *)w.word), ++w.value, 0));
    if (behind)
        hold(named(way->word));
    while (*w.word != w.value)
        continue;
    if (cuEventQuery(w.event) == CUDA_SUCCESS)
        return 0;
    uint64_t seen_ns = now_ns();
    while (cuEventQuery(w.event) == CUDA_ERROR_NOT_READY)
        continue;
    return now_ns() - seen_ns + 1;
}

static void ask_way(const struct way *way, bool behind, bool waits)
{
    unsigned late = 0;
    uint64_t most_ns = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t late_ns = event_is_late(way, behind, waits);
        late += late_ns != 0;
        most_ns = late_ns > most_ns ? late_ns : most_ns;
    }
    say(" | %u, %.1f us", late, (double)most_ns / 1e3);
}

static void ask_order(void)
{
    say("late of %u, at most: | alone | with a kernel behind the word | with a wait\n", ROUNDS);
    for (unsigned i = 0; i < COUNT(ways); i++) {
        say("  %s:", ways[i].name);
        ask_way(&ways[i], false, false);
        ask_way(&ways[i], true, false);
        ask_way(&ways[i], true, true);
        end_line();
    }
}

static void ask_crowd(void)
{
    w.is_crowded = true;
    ask_order();
}

static const struct question questions[] = {
    {.name = "order", .ask = ask_order},
    {.name = "crowd", .ask = ask_crowd},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_signals",
        .questions = questions,
        .count = COUNT(questions),
        .set_up = set_up,
        .question_s = 120,
    };

    return ask_all(&inquiry, argc, argv);
}

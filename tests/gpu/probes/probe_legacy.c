/* probe_legacy: asks the CUDA driver which calls on the legacy stream later work of a blocking
 * stream comes after, and whether it comes through them after what another blocking stream had.
 * The answers are in docs/driver.md.
 *
 *     gcc -std=gnu11 -O2 -pthread -I. -I/usr/local/cuda/include tests/gpu/probes/probe_legacy.c \
 *         tests/gpu/asking.c -o probe_legacy -ldl -lcuda
 *     ./probe_legacy               every question, under a minute
 *
 * Work is begun on B1, a blocking stream; a call is made on the legacy stream; something is done on
 * B2, another one, and waited for. A line has for each kind of it `waits` or `-`: B1's work had
 * not ended.
 */
#include "../asking.h"

#include "../asking_calls.h"

#include <stdatomic.h>

enum { BUSY_MS = 12, EARLIER_MS = 4 };

static struct {
    CUstream b1, b2, other;
    CUdeviceptr device, managed;
    unsigned char *pinned, *pageable;
    CUfunction empty, spin;
    CUevent complete, open, never, last;
    CUgraphExec graph, graph_of_none;
    CUdeviceptr pooled;
    CUgraphExec graph_of_empty;
} w;
static atomic_bool ended;

static CUgraphExec new_exec(bool with_copy, bool with_empty)
{
    CUgraph graph = NULL;
    CUgraphNode node;
    CUgraphExec exec = NULL;
    CUDA_MEMSET_NODE_PARAMS params = {
        .dst = w.device + 32768, .elementSize = 1, .width = 64, .height = 1};

    TRY(cuGraphCreate(&graph, 0));
    if (with_copy)
        TRY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, primary));
    if (with_empty)
        TRY(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    TRY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static CUresult set_up(void)
{
    CUmodule module = NULL;

    enter_primary();
    w.b1 = new_stream(CU_STREAM_DEFAULT);
    w.b2 = new_stream(CU_STREAM_DEFAULT);
    w.other = new_stream(CU_STREAM_NON_BLOCKING);
    w.device = device_block();
    w.pinned = pinned_block();
    w.pageable = map_pages(BLOCK_BYTES);
    w.complete = new_event();
    w.open = new_event();
    w.never = new_event();
    w.last = new_event();
    w.empty = load_kernel("empty", &module);
    w.spin = load_kernel("spin", &module);
    TRY(cuMemAllocManaged(&w.managed, 4096, CU_MEM_ATTACH_GLOBAL));
    w.graph = new_exec(true, false);
    w.graph_of_none = new_exec(false, false);
    w.graph_of_empty = new_exec(false, true);
    TRY(cuEventRecord(w.complete, w.other));
    settle();
    return CUDA_SUCCESS;
}

/* ---- B1's work ---- */

static void CUDA_CB hold(void *ms)
{
    sleep_ms((unsigned)(uintptr_t)ms);
    atomic_store(&ended, true);
}

static void work_function(void)
{
    TRY(cuLaunchHostFunc(w.b1, hold, (void *)(uintptr_t)BUSY_MS));
}

static void CUDA_CB end(void *unused)
{
    (void)unused;
    atomic_store(&ended, true);
}

static void work_kernel(void)
{
    launch_spin(w.spin, w.b1, BUSY_MS);
    TRY(cuLaunchHostFunc(w.b1, end, NULL));
}

/* Nothing but a wait for a stream that the legacy one has nothing to do with. */
static void work_wait(void)
{
    TRY(cuLaunchHostFunc(w.other, hold, (void *)(uintptr_t)BUSY_MS));
    TRY(cuEventRecord(w.open, w.other));
    TRY(cuStreamWaitEvent(w.b1, w.open, 0));
}

/* The same on the legacy stream itself: B1 has nothing. */
static void work_legacy_wait(void)
{
    TRY(cuLaunchHostFunc(w.other, hold, (void *)(uintptr_t)BUSY_MS));
    TRY(cuEventRecord(w.open, w.other));
    TRY(cuStreamWaitEvent(LEGACY, w.open, 0));
}

static const struct work {
    const char *name;
    void (*begin)(void);
} works[] = {
    {"B1 has a host function", work_function},
    {"B1 has a kernel and a host function", work_kernel},
    {"B1 waits for a non-blocking stream", work_wait},
    {"the legacy stream waits for a non-blocking stream", work_legacy_wait},
};

/* ---- what is called on the legacy stream ---- */

static CUresult record(CUevent event)
{
    return cuEventRecord(event, LEGACY);
}

static CUresult write_value(void)
{
    return cuStreamWriteValue32(LEGACY, w.device + 16384, 7, 0);
}

static CUresult wait_value(void)
{
    return cuStreamWaitValue32(LEGACY, w.device + 16384, 0, CU_STREAM_WAIT_VALUE_GEQ);
}

static CUresult sync_legacy_of_other(void)
{
    CUresult rc = cuStreamQuery(LEGACY);
    return rc == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : rc;
}

static CUresult alloc_and_free(void)
{
    CUdeviceptr block;
    CUresult rc = cuMemAllocAsync(&block, 4096, LEGACY);

    return rc != CUDA_SUCCESS ? rc : cuMemFreeAsync(block, LEGACY);
}

static CUresult alloc_alone(void)
{
    return cuMemAllocAsync(&w.pooled, 4096, LEGACY);
}

static CUresult wait_never(void)
{
    CUevent event = new_event();
    CUresult rc = cuStreamWaitEvent(LEGACY, event, 0);

    TRY(cuEventDestroy(event));
    return rc;
}

static CUresult no_call(void)
{
    return CUDA_SUCCESS;
}

#define CALLS(X)                                                                                   \
    X(none, "nothing", NONE, no_call())                                                            \
    X(record, "an event's record", NONE, record(w.last))                                           \
    X(twice, "two records", NONE, (record(w.last), record(w.never)))                               \
    X(wait, "a wait for a complete event", NONE, cuStreamWaitEvent(LEGACY, w.complete, 0))         \
    X(wait_b1, "a wait for B1's last record", NONE, cuStreamWaitEvent(LEGACY, w.last, 0))          \
    X(query, "a query", NONE, sync_legacy_of_other())                                              \
    X(memset, "a memset", NONE, cuMemsetD8Async(w.device + 8192, 1, 64, LEGACY))                   \
    X(memset_none, "a memset of 0 bytes", NONE, cuMemsetD8Async(w.device + 8192, 1, 0, LEGACY))    \
    X(h2d, "an upload", NONE, cuMemcpyHtoDAsync(w.device + 8192, w.pinned, 64, LEGACY))            \
    X(h2d_large, "an upload of 32 KB", NONE,                                                       \
      cuMemcpyHtoDAsync(w.device + 8192, w.pinned, 32768, LEGACY))                                 \
    X(h2d_none, "an upload of 0 bytes", NONE,                                                      \
      cuMemcpyHtoDAsync(w.device + 8192, w.pinned, 0, LEGACY))                                     \
    X(d2h, "a download", NONE, cuMemcpyDtoHAsync(w.pinned + 8192, w.device, 64, LEGACY))           \
    X(d2d, "a copy between devices", NONE,                                                         \
      cuMemcpyDtoDAsync(w.device + 8192, w.device, 64, LEGACY))                                    \
    X(d2d_sync, "a synchronous copy between devices", NONE,                                        \
      cuMemcpyDtoD(w.device + 8192, w.device, 64))                                                 \
    X(memset_sync, "a synchronous memset", NONE, cuMemsetD8(w.device + 8192, 1, 64))               \
    X(kernel, "a kernel", NONE, launch(w.empty, LEGACY))                                           \
    X(function, "a host function", NONE, cuLaunchHostFunc(LEGACY, nothing, NULL))                  \
    X(graph, "a graph", NONE, cuGraphLaunch(w.graph, LEGACY))                                      \
    X(graph_none, "a graph without nodes", NONE, cuGraphLaunch(w.graph_of_none, LEGACY))           \
    X(graph_empty, "a graph of an empty node", NONE, cuGraphLaunch(w.graph_of_empty, LEGACY))      \
    X(upload, "an upload of a graph", NONE, cuGraphUpload(w.graph, LEGACY))                        \
    X(wait_never, "a wait for an event that was never recorded", NONE, wait_never())               \
    X(alloc, "an allocation", NONE, alloc_alone())                                                 \
    X(free, "a free", NONE, cuMemFreeAsync(w.pooled, LEGACY))                                      \
    X(alloc_free, "an allocation and its free", NONE, alloc_and_free())                            \
    X(attach, "an attach of managed memory", NONE,                                                 \
      cuStreamAttachMemAsync(LEGACY, w.managed, 0, CU_MEM_ATTACH_GLOBAL))                          \
    X(prefetch, "a prefetch", NONE, prefetch(w.managed, LEGACY))                                   \
    X(write, "a written value", NONE, write_value())                                               \
    X(wait_value, "a wait for a value that is there", NONE, wait_value())
CALLS(DEFINE_CALL)
static const struct call calls[] = {CALLS(LIST_CALL)};

/* ---- B2 ---- */

static CUresult last_record(void)
{
    return CUDA_SUCCESS;
}

static CUresult last_upload(void)
{
    return cuMemcpyHtoDAsync(w.device, w.pinned, 64, w.b2);
}

static CUresult last_large_upload(void)
{
    return cuMemcpyHtoDAsync(w.device, w.pinned, 32768, w.b2);
}

static CUresult last_download(void)
{
    return cuMemcpyDtoHAsync(w.pinned, w.device, 64, w.b2);
}

static CUresult last_memset(void)
{
    return cuMemsetD8Async(w.device, 1, 64, w.b2);
}

static CUresult last_kernel(void)
{
    return launch(w.empty, w.b2);
}

static CUresult last_function(void)
{
    return cuLaunchHostFunc(w.b2, nothing, NULL);
}

static const struct {
    const char *name;
    CUresult (*call)(void);
} lasts[] = {
    {"record alone", last_record}, {"upload", last_upload}, {"32 KB", last_large_upload},
    {"download", last_download},   {"memset", last_memset}, {"kernel", last_kernel},
    {"function", last_function},
};

static bool b2_waits(const struct work *work, const struct call *call, unsigned last, bool earlier)
{
    bool waited;

    settle();
    if (call->call == call_free)
        TRY(cuMemAllocAsync(&w.pooled, 4096, w.other));
    TRY(cuEventRecord(w.last, w.b1));
    settle();
    atomic_store(&ended, false);
    if (earlier)
        TRY(cuLaunchHostFunc(LEGACY, sleeper, (void *)(uintptr_t)EARLIER_MS));
    work->begin();
    if (call->call == call_wait_b1)
        TRY(cuEventRecord(w.last, w.b1));
    check(call->name, call->call());
    check(lasts[last].name, lasts[last].call());
    TRY(cuEventRecord(w.complete, w.b2));
    TRY(cuEventSynchronize(w.complete));
    waited = atomic_load(&ended);
    settle();
    if (call->call == call_alloc)
        TRY(cuMemFreeAsync(w.pooled, w.other));
    return waited;
}

static void ask_table(bool earlier)
{
    for (unsigned i = 0; i < COUNT(works); i++) {
        say("%s%s; B2:", works[i].name, earlier ? ", the legacy stream has earlier work" : "");
        for (unsigned k = 0; k < COUNT(lasts); k++)
            say(" | %s", lasts[k].name);
        end_line();
        for (unsigned j = 0; j < COUNT(calls); j++) {
            say("  %s:", calls[j].name);
            for (unsigned k = 0; k < COUNT(lasts); k++)
                say(" | %s", b2_waits(&works[i], &calls[j], k, earlier) ? "waits" : "-");
            end_line();
        }
    }
}

static void ask_idle(void)
{
    ask_table(false);
}

static void ask_busy(void)
{
    ask_table(true);
}

/* What the legacy stream's own next work, and its record, come after. */
static void ask_own(void)
{
    for (unsigned i = 0; i < COUNT(works); i++) {
        say("%s; the legacy stream's own:", works[i].name);
        for (unsigned j = 0; j < COUNT(calls); j++) {
            settle();
            atomic_store(&ended, false);
            if (calls[j].call == call_free || calls[j].call == call_alloc)
                continue;
            works[i].begin();
            check(calls[j].name, calls[j].call());
            TRY(cuEventRecord(w.complete, LEGACY));
            TRY(cuEventSynchronize(w.complete));
            say(" | %s %s", calls[j].name, atomic_load(&ended) ? "waits" : "-");
        }
        end_line();
    }
    settle();
}

/* A stream made for it just now, and a per-thread default stream, in the place of B2. */
static void ask_streams(void)
{
    CUstream usual = w.b2;

    say("B2 is new:");
    for (unsigned j = 0; j < COUNT(calls); j++) {
        w.b2 = new_stream(CU_STREAM_DEFAULT);
        say(" | %s %s", calls[j].name, b2_waits(&works[0], &calls[j], 0, false) ? "waits" : "-");
        TRY(cuStreamDestroy(w.b2));
    }
    end_line();
    w.b2 = CU_STREAM_PER_THREAD;
    say("B2 is the per-thread default stream:");
    for (unsigned j = 0; j < COUNT(calls); j++)
        say(" | %s %s", calls[j].name, b2_waits(&works[0], &calls[j], 3, false) ? "waits" : "-");
    end_line();
    w.b2 = usual;
}

static const struct question questions[] = {
    {.name = "idle", .ask = ask_idle},
    {.name = "busy", .ask = ask_busy},
    {.name = "own", .ask = ask_own},
    {.name = "streams", .ask = ask_streams},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_legacy",
        .questions = questions,
        .count = COUNT(questions),
        .set_up = set_up,
        .question_s = 60,
    };

    return ask_all(&inquiry, argc, argv);
}

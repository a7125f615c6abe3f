/* probe_sync: asks the CUDA driver which synchronous copies and memsets wait for the device, and
 * when they read their source. The answers are in docs/driver.md.
 *
 *     gcc -std=gnu11 -O2 -pthread -I. -I/usr/local/cuda/include tests/gpu/probes/probe_sync.c \
 *         tests/gpu/asking.c -o probe_sync -ldl -lcuda
 *     ./probe_sync                every question, under 30 s
 *
 * `a/b` are the times of a call in ms behind BUSY_MS on a blocking stream, and on a non-blocking
 * one; `late`: the bytes were not there when the first returned.
 */
#include "../asking.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUSY_MS = 60 };

static struct {
    CUstream blocking, nonblocking;
    CUdeviceptr device, managed;
    unsigned char *pinned, *registered, *pageable;
    CUarray array;
} w;

static CUresult set_up(void)
{
    CUDA_ARRAY_DESCRIPTOR shape = {BLOCK_BYTES / 4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    enter_primary();
    w.blocking = new_stream(CU_STREAM_DEFAULT);
    w.nonblocking = new_stream(CU_STREAM_NON_BLOCKING);
    w.device = device_block();
    w.pinned = pinned_block();
    w.pageable = malloc(64 * MB);
    w.registered = map_pages(BLOCK_BYTES);
    TRY(cuMemAllocManaged(&w.managed, BLOCK_BYTES, CU_MEM_ATTACH_GLOBAL));
    TRY(cuArrayCreate(&w.array, &shape));
    return TRY(cuMemHostRegister(w.registered, BLOCK_BYTES, 0));
}

/* ---- who waits ---- */

static CUresult plain(CUdeviceptr to, CUdeviceptr from)
{
    return cuMemcpy(to, from, BLOCK_BYTES);
}

static CUresult within(CUdeviceptr to, CUdeviceptr from)
{
    return cuMemcpyDtoD(to, from, BLOCK_BYTES);
}

static CUresult peer(CUdeviceptr to, CUdeviceptr from)
{
    return cuMemcpyPeer(to, primary, from, primary, BLOCK_BYTES);
}

static CUresult box(CUdeviceptr to, CUdeviceptr from)
{
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                          .srcDevice = from,
                          .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                          .dstDevice = to,
                          .WidthInBytes = BLOCK_BYTES,
                          .Height = 1};
    return cuMemcpy2D(&copy);
}

static CUresult peer_box(CUdeviceptr to, CUdeviceptr from)
{
    CUDA_MEMCPY3D_PEER copy = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                               .srcDevice = from,
                               .srcContext = primary,
                               .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                               .dstDevice = to,
                               .dstContext = primary,
                               .WidthInBytes = BLOCK_BYTES,
                               .Height = 1,
                               .Depth = 1};
    return cuMemcpy3DPeer(&copy);
}

static CUresult fill(CUdeviceptr to, CUdeviceptr unused)
{
    (void)unused;
    return cuMemsetD8(to, 7, BLOCK_BYTES);
}

static CUresult fill_rows(CUdeviceptr to, CUdeviceptr unused)
{
    (void)unused;
    return cuMemsetD2D8(to, 1024, 7, 1000, BLOCK_BYTES / 1024);
}

static CUresult from_array(CUdeviceptr to, CUdeviceptr unused)
{
    (void)unused;
    return cuMemcpyAtoD(to, w.array, 0, BLOCK_BYTES);
}

static CUresult to_array(CUdeviceptr unused, CUdeviceptr from)
{
    (void)unused;
    return cuMemcpyDtoA(w.array, 0, from, BLOCK_BYTES);
}

static double behind(CUstream stream, CUresult (*call)(CUdeviceptr, CUdeviceptr), CUdeviceptr to,
                     CUdeviceptr from)
{
    TRY(cuLaunchHostFunc(stream, sleeper, (void *)(uintptr_t)BUSY_MS));
    return MS(call(to, from));
}

/* The sides that the call names by an address. */
enum { TARGET = 1, SOURCE = 2 };

static void ask_call(const char *name, CUresult (*call)(CUdeviceptr, CUdeviceptr), int sides)
{
    const struct place {
        const char *name;
        CUdeviceptr at;
        bool is_host;
    } places[] = {
        {"device", w.device, false},
        {"pinned", uva(w.pinned), true},
        {"registered", uva(w.registered), true},
        {"managed", w.managed, false},
        {"pageable", uva(w.pageable), true},
    };
    for (size_t to = 0; to < COUNT(places); to++)
        for (size_t from = 0; from < COUNT(places); from++) {
            bool late = false;
            if ((sides == (TARGET | SOURCE) && from == to) || (!(sides & TARGET) && to) ||
                (!(sides & SOURCE) && from))
                continue;
            say("%s %s <- %s:", name, sides & TARGET ? places[to].name : "itself",
                sides & SOURCE ? places[from].name : "itself");
            if (places[to].is_host)
                memset((void *)places[to].at, 1, BLOCK_BYTES);
            if (places[from].is_host)
                memset((void *)places[from].at, 2, BLOCK_BYTES);
            double first = behind(w.blocking, call, places[to].at, places[from].at);
            if (places[to].is_host)
                late = ((volatile unsigned char *)places[to].at)[BLOCK_BYTES / 2] == 1;
            settle();
            double second = behind(w.nonblocking, call, places[to].at, places[from].at);
            settle();
            say(" %.0f/%.0f%s\n", first, second, late ? " late" : "");
        }
}

static void ask_waits(void)
{
    ask_call("cuMemcpy", plain, TARGET | SOURCE);
    ask_call("cuMemcpyDtoD", within, TARGET | SOURCE);
    ask_call("cuMemcpyPeer", peer, TARGET | SOURCE);
    ask_call("cuMemcpy2D", box, TARGET | SOURCE);
    ask_call("cuMemcpy3DPeer", peer_box, TARGET | SOURCE);
    ask_call("cuMemsetD8", fill, TARGET);
    ask_call("cuMemsetD2D8", fill_rows, TARGET);
    ask_call("cuMemcpyAtoD", from_array, TARGET);
    ask_call("cuMemcpyDtoA", to_array, SOURCE);
}

/* ---- when a source is read ---- */

static void *overwrite_soon(void *source)
{
    sleep_ms(BUSY_MS / 2);
    memset(source, 9, 64 * MB);
    return NULL;
}

/* Overwritten while the call waits for a blocking stream: as the stream would, or another thread.
 */
static void ask_source(const char *kind, unsigned char *source, size_t size_bytes)
{
    static unsigned char first, last;
    static CUdeviceptr target;
    pthread_t other;
    if (!target)
        TRY(cuMemAlloc(&target, 64 * MB));
    memset(source, 2, 64 * MB);
    settle();
    pthread_create(&other, NULL, overwrite_soon, source);
    TRY(cuLaunchHostFunc(w.blocking, sleeper, (void *)(uintptr_t)BUSY_MS));
    TRY(cuMemcpyHtoD(target, source, size_bytes));
    pthread_join(other, NULL);
    settle();
    TRY(cuMemcpyDtoH(&first, target, 1));
    TRY(cuMemcpyDtoH(&last, target + size_bytes - 1, 1));
    say("%s source of %s, overwritten while cuMemcpyHtoD waits: first byte %s, last %s\n", kind,
        size_text(size_bytes), first == 2 ? "old" : "new", last == 2 ? "old" : "new");
}

static void ask_sources(void)
{
    const size_t sizes[] = {64, 4 * KB, 64 * KB, MB, 64 * MB};
    void *pinned = NULL;
    TRY(cuMemHostAlloc(&pinned, 64 * MB, 0));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        ask_source("pageable", w.pageable, sizes[i]);
        ask_source("pinned", pinned, sizes[i]);
    }
}

/* ---- when a result is there ---- */

static void ask_results(void)
{
    const size_t sizes[] = {4 * KB, 64 * KB, 64 * MB};
    enum { TIMES = 20 };
    CUdeviceptr from = 0;
    TRY(cuMemAlloc(&from, 64 * MB));
    TRY(cuMemsetD8(from, 2, 64 * MB));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        int late = 0;
        for (int turn = 0; turn < TIMES; turn++) {
            volatile unsigned char *last = w.pageable + sizes[i] - 1;
            memset(w.pageable, 1, sizes[i]);
            settle();
            TRY(cuMemcpyDtoH(w.pageable, from, sizes[i]));
            late += *last == 1;
        }
        say("pageable target of %s: late %d of %d\n", size_text(sizes[i]), late, TIMES);
    }
}

/* A copy on a stream of its own is still to write what the call reads. */
static void ask_conflict(void)
{
    unsigned char *back = malloc(BLOCK_BYTES);
    CUdeviceptr from = device_block();
    TRY(cuMemsetD8(from, 5, BLOCK_BYTES));
    memset(w.pinned, 1, BLOCK_BYTES);
    settle();
    TRY(cuLaunchHostFunc(w.nonblocking, sleeper, (void *)(uintptr_t)BUSY_MS));
    TRY(cuMemcpyDtoHAsync(w.pinned, from, BLOCK_BYTES, w.nonblocking));
    TRY(cuMemcpyHtoD(w.device, w.pinned, BLOCK_BYTES));
    settle();
    TRY(cuMemcpyDtoH(back, w.device, BLOCK_BYTES));
    say(" cuMemcpyHtoD took %s", back[100] == 5 ? "what was to come" : "what was there before");
}

static const struct question questions[] = {
    {.name = "waits", .ask = ask_waits},
    {.name = "sources", .ask = ask_sources},
    {.name = "results", .ask = ask_results},
    {.name = "conflict", .ask = ask_conflict, .text = "a pinned source in flight"},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_sync",
        .questions = questions,
        .count = COUNT(questions),
        .set_up = set_up,
        .question_s = 60,
    };

    return ask_all(&inquiry, argc, argv);
}

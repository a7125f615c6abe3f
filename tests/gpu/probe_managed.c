/* probe_managed: asks the CUDA driver about managed memory: when asynchronous copies read it and
 * write it by every way there is, which calls wait for them, and what the host may do with its
 * pages. The answers are in docs/driver.md.
 *
 *     gcc -std=gnu11 -O2 -pthread -I. -I/usr/local/cuda/include tests/gpu/probe_managed.c \
 *         tests/gpu/asking.c -o probe_managed -ldl -lcuda
 *     ./probe_managed             every question, under two minutes
 *
 * A host function keeps a stream busy for BUSY_MS. A copy is issued behind it, and its source is
 * overwritten when the call has returned. An answer to that is `call target arrived`:
 *
 *     call      b: it returned when the stream was done; a: at once; eN: it failed with N
 *     target    s: it held the old bytes at the return; c: it was complete; -: the host cannot look
 *     arrived   o: what the source held at the call; N: what it was overwritten with; -: the source
 *               is device memory, which stays as it was; x: something else
 */
#include "asking.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BUSY_MS = 40, LARGEST = 4 << 20, BLANK = 0, OLD = 1, NEW = 2 };

enum place { ON_DEVICE, MANAGED, PINNED, REGISTERED, PAGEABLE, PLACES };
static const char *const place_names[PLACES] = {"device", "managed", "pinned", "registered",
                                                "pageable"};

static struct {
    CUstream stream, other, blocking;
    CUdeviceptr from[PLACES], to[PLACES];
    unsigned char *seen; /* pinned */
} w;

static CUdeviceptr new_block(enum place place)
{
    CUdeviceptr block = 0;
    void *host = NULL;
    switch (place) {
    case ON_DEVICE:
        TRY(cuMemAlloc(&block, LARGEST));
        return block;
    case MANAGED:
        TRY(cuMemAllocManaged(&block, LARGEST, CU_MEM_ATTACH_GLOBAL));
        return block;
    case PINNED:
        TRY(cuMemHostAlloc(&host, LARGEST, 0));
        return uva(host);
    case REGISTERED:
        host = map_pages(LARGEST);
        TRY(cuMemHostRegister(host, LARGEST, 0));
        return uva(host);
    default:
        return uva(map_pages(LARGEST));
    }
}

static CUresult set_up(void)
{
    enter_primary();
    w.stream = new_stream(CU_STREAM_NON_BLOCKING);
    w.other = new_stream(CU_STREAM_NON_BLOCKING);
    w.blocking = new_stream(CU_STREAM_DEFAULT);
    for (int place = 0; place < PLACES; place++) {
        w.from[place] = new_block((enum place)place);
        w.to[place] = new_block((enum place)place);
    }
    void *seen = NULL;
    CUresult rc = TRY(cuMemHostAlloc(&seen, LARGEST, 0));
    w.seen = seen;
    return rc;
}

/* ---- the ways to copy ---- */

struct way {
    CUresult (*copy)(const struct way *way, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                     CUstream stream);
    CUmemorytype to_type, from_type;
    CUmemcpySrcAccessOrder order;
};

static CUresult plain(const struct way *way, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                      CUstream stream)
{
    (void)way;
    return cuMemcpyAsync(to, from, bytes, stream);
}

static CUresult up(const struct way *way, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                   CUstream stream)
{
    (void)way;
    return cuMemcpyHtoDAsync(to, (const void *)from, bytes, stream);
}

static CUresult down(const struct way *way, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                     CUstream stream)
{
    (void)way;
    return cuMemcpyDtoHAsync((void *)to, from, bytes, stream);
}

static CUresult within(const struct way *way, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                       CUstream stream)
{
    (void)way;
    return cuMemcpyDtoDAsync(to, from, bytes, stream);
}

static CUresult peer(const struct way *way, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                     CUstream stream)
{
    (void)way;
    return cuMemcpyPeerAsync(to, primary, from, primary, bytes, stream);
}

static CUresult rows(const struct way *way, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                     CUstream stream)
{
    const CUDA_MEMCPY2D copy = {
        .srcMemoryType = way->from_type,
        .srcHost = (const void *)from,
        .srcDevice = from,
        .srcPitch = 256,
        .dstMemoryType = way->to_type,
        .dstHost = (void *)to,
        .dstDevice = to,
        .dstPitch = 256,
        .WidthInBytes = 256,
        .Height = bytes / 256,
    };
    return cuMemcpy2DAsync(&copy, stream);
}

#define BOX(way, to, from, bytes)                                                                  \
    .srcMemoryType = (way)->from_type, .srcHost = (const void *)(from), .srcDevice = (from),       \
    .srcPitch = 256, .srcHeight = (bytes) / 256, .dstMemoryType = (way)->to_type,                  \
    .dstHost = (void *)(to), .dstDevice = (to), .dstPitch = 256, .dstHeight = (bytes) / 256,       \
    .WidthInBytes = 256, .Height = (bytes) / 256, .Depth = 1

static CUresult box(const struct way *way, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                    CUstream stream)
{
    const CUDA_MEMCPY3D copy = {BOX(way, to, from, bytes)};
    return cuMemcpy3DAsync(&copy, stream);
}

static CUresult peer_box(const struct way *way, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                         CUstream stream)
{
    const CUDA_MEMCPY3D_PEER copy = {BOX(way, to, from, bytes), .srcContext = primary,
                                     .dstContext = primary};
    return cuMemcpy3DPeerAsync(&copy, stream);
}

static CUresult batch(const struct way *way, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                      CUstream stream)
{
    CUmemcpyAttributes attributes = {.srcAccessOrder = way->order};
    size_t first = 0;
    return cuMemcpyBatchAsync(&to, &from, &bytes, 1, &attributes, &first, 1, stream);
}

static CUresult launch_graph(CUgraph graph, CUstream stream)
{
    CUgraphExec exec = NULL;
    CUresult rc = cuGraphInstantiate(&exec, graph, 0);
    cuGraphDestroy(graph);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = cuGraphLaunch(exec, stream);
    cuGraphExecDestroy(exec);
    return rc;
}

static CUresult captured(const struct way *way, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                         CUstream stream)
{
    CUgraph graph = NULL;
    (void)way;
    cuStreamBeginCapture(w.other, CU_STREAM_CAPTURE_MODE_RELAXED);
    CUresult rc = cuMemcpyAsync(to, from, bytes, w.other);
    cuStreamEndCapture(w.other, &graph);
    return rc == CUDA_SUCCESS ? launch_graph(graph, stream) : rc;
}

static CUresult node(const struct way *way, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                     CUstream stream)
{
    const CUDA_MEMCPY3D copy = {BOX(way, to, from, bytes)};
    CUgraph graph = NULL;
    CUgraphNode added = NULL;
    CUresult rc = cuGraphCreate(&graph, 0);
    if (rc == CUDA_SUCCESS)
        rc = cuGraphAddMemcpyNode(&added, graph, NULL, 0, &copy, primary);
    return rc == CUDA_SUCCESS ? launch_graph(graph, stream) : rc;
}

/* ---- the cells of a way ---- */

static void fill(enum place place, CUdeviceptr at, int value, size_t bytes)
{
    if (place != ON_DEVICE)
        memset((void *)at, value, bytes);
    else
        TRY(cuMemsetD8(at, (unsigned char)value, bytes));
    settle();
}

static unsigned char last_byte(enum place place, CUdeviceptr at, size_t bytes)
{
    if (place != ON_DEVICE)
        return *(volatile unsigned char *)(at + bytes - 1);
    TRY(cuMemcpyDtoH(w.seen, at + bytes - 1, 1));
    return w.seen[0];
}

static void say_arrived(enum place from, unsigned char value)
{
    if (from == ON_DEVICE)
        say(value == OLD ? "-" : "x");
    else
        say(value == OLD ? "o" : value == NEW ? "N" : "x");
}

static void ask_cell(const struct way *way, enum place from, enum place to, size_t bytes)
{
    fill(from, w.from[from], OLD, bytes);
    fill(to, w.to[to], BLANK, bytes);
    TRY(cuLaunchHostFunc(w.stream, sleeper, (void *)(uintptr_t)BUSY_MS));
    uint64_t start = now_ns();
    CUresult rc = way->copy(way, w.to[to], w.from[from], bytes, w.stream);
    bool blocked = ms_since(start) > BUSY_MS / 2.0;
    say(" %s:", place_names[from]);
    if (rc != CUDA_SUCCESS) {
        say("e%d", (int)rc);
        settle();
        return;
    }
    bool stale = to != ON_DEVICE && last_byte(to, w.to[to], bytes) == BLANK;
    if (from != ON_DEVICE)
        memset((void *)w.from[from], NEW, bytes);
    settle();
    say("%s%s", blocked ? "b" : "a", to == ON_DEVICE ? "-" : stale ? "s" : "c");
    say_arrived(from, last_byte(to, w.to[to], bytes));
}

/* Pageable memory is no memory of the device's, and some calls lose the context over it. */
static bool is_askable(CUmemorytype type, enum place place)
{
    if (type == CU_MEMORYTYPE_HOST)
        return place != ON_DEVICE;
    return type != CU_MEMORYTYPE_DEVICE || place != PAGEABLE;
}

static void ask_way(const struct way *way, size_t bytes)
{
    for (int to = 0; to < PLACES; to++) {
        if (!is_askable(way->to_type, (enum place)to))
            continue;
        say("%s to %s from", size_text(bytes), place_names[to]);
        for (int from = 0; from < PLACES; from++)
            if (is_askable(way->from_type, (enum place)from))
                ask_cell(way, (enum place)from, (enum place)to, bytes);
        end_line();
    }
}

#define UNIFIED CU_MEMORYTYPE_UNIFIED
#define HOST CU_MEMORYTYPE_HOST
#define DEVICE CU_MEMORYTYPE_DEVICE
#define ANY_ORDER CU_MEMCPY_SRC_ACCESS_ORDER_ANY
#define STREAM_ORDER CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
#define DURING_CALL CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL

/* X(id, the question's name, the function, the types of target and source, the order) */
#define WAYS(X)                                                                                    \
    X(plain, "cuMemcpyAsync", plain, UNIFIED, UNIFIED, 0)                                          \
    X(up, "cuMemcpyHtoDAsync", up, DEVICE, HOST, 0)                                                \
    X(down, "cuMemcpyDtoHAsync", down, HOST, DEVICE, 0)                                            \
    X(within, "cuMemcpyDtoDAsync", within, DEVICE, DEVICE, 0)                                      \
    X(peer, "cuMemcpyPeerAsync", peer, DEVICE, DEVICE, 0)                                          \
    X(rows, "2D", rows, UNIFIED, UNIFIED, 0)                                                       \
    X(rows_hh, "2D-host-host", rows, HOST, HOST, 0)                                                \
    X(rows_dh, "2D-host-to-device", rows, DEVICE, HOST, 0)                                         \
    X(rows_hd, "2D-device-to-host", rows, HOST, DEVICE, 0)                                         \
    X(rows_dd, "2D-device-device", rows, DEVICE, DEVICE, 0)                                        \
    X(box, "3D", box, UNIFIED, UNIFIED, 0)                                                         \
    X(box_hh, "3D-host-host", box, HOST, HOST, 0)                                                  \
    X(box_dd, "3D-device-device", box, DEVICE, DEVICE, 0)                                          \
    X(peer_box, "3DPeer", peer_box, UNIFIED, UNIFIED, 0)                                           \
    X(peer_box_dd, "3DPeer-device-device", peer_box, DEVICE, DEVICE, 0)                            \
    X(batch_stream, "batch-STREAM", batch, UNIFIED, UNIFIED, STREAM_ORDER)                         \
    X(batch_during, "batch-DURING_API_CALL", batch, UNIFIED, UNIFIED, DURING_CALL)                 \
    X(batch_any, "batch-ANY", batch, UNIFIED, UNIFIED, ANY_ORDER)                                  \
    X(captured, "captured", captured, UNIFIED, UNIFIED, 0)                                         \
    X(node, "node", node, UNIFIED, UNIFIED, 0)                                                     \
    X(node_hh, "node-host-host", node, HOST, HOST, 0)                                              \
    X(node_dh, "node-host-to-device", node, DEVICE, HOST, 0)                                       \
    X(node_hd, "node-device-to-host", node, HOST, DEVICE, 0)                                       \
    X(node_dd, "node-device-device", node, DEVICE, DEVICE, 0)

/* Of cuMemcpyAsync also small and large copies. */
#define DEFINE_WAY(id, word, function, to, from, access)                                           \
    static void ask_##id(void)                                                                     \
    {                                                                                              \
        static const struct way way = {function, to, from, (CUmemcpySrcAccessOrder)(access)};      \
        if (way.copy == plain) {                                                                   \
            ask_way(&way, 256);                                                                    \
            ask_way(&way, LARGEST);                                                                \
        }                                                                                          \
        ask_way(&way, 64 * KB);                                                                    \
    }
WAYS(DEFINE_WAY)

/* ---- sources that are taken early ---- */

/* Nothing is queued in a blocking stream, and the legacy stream is busy. */
static void ask_early(void)
{
    static const size_t sizes[] = {16, 24 * KB, 24 * KB + 4};
    static const enum place cells[][2] = {{PINNED, ON_DEVICE},
                                          {PINNED, MANAGED},
                                          {MANAGED, ON_DEVICE},
                                          {MANAGED, MANAGED},
                                          {MANAGED, PINNED}};
    for (size_t cell = 0; cell < COUNT(cells); cell++) {
        const enum place from = cells[cell][0], to = cells[cell][1];
        say("%s to %s:", place_names[from], place_names[to]);
        for (size_t i = 0; i < COUNT(sizes); i++) {
            fill(from, w.from[from], OLD, sizes[i]);
            fill(to, w.to[to], BLANK, sizes[i]);
            TRY(cuLaunchHostFunc(LEGACY, sleeper, (void *)(uintptr_t)BUSY_MS));
            TRY(cuMemcpyAsync(w.to[to], w.from[from], sizes[i], w.blocking));
            memset((void *)w.from[from], NEW, sizes[i]);
            settle();
            say(" %s ", size_text(sizes[i]));
            say_arrived(from, last_byte(to, w.to[to], sizes[i]));
        }
        end_line();
    }
}

/* ---- synchronous copies ---- */

/* Looked for by the host at once, and by a non-blocking stream. */
static void ask_landed(void)
{
    static const size_t sizes[] = {16 * KB, 64 * KB, MB, LARGEST};
    enum { TIMES = 21 };
    for (int named = 0; named < 2; named++)
        for (size_t i = 0; i < COUNT(sizes); i++) {
            const CUdeviceptr last = w.to[MANAGED] + sizes[i] - 1;
            int late_for_host = 0, late_for_stream = 0;
            for (int turn = 0; turn < 2 * TIMES; turn++) {
                fill(PAGEABLE, w.from[PAGEABLE], NEW, sizes[i]);
                TRY(cuMemsetD8(w.to[MANAGED], OLD, sizes[i]));
                settle();
                if (named)
                    TRY(cuMemcpyHtoD(w.to[MANAGED], (void *)w.from[PAGEABLE], sizes[i]));
                else
                    TRY(cuMemcpy(w.to[MANAGED], w.from[PAGEABLE], sizes[i]));
                if (turn % 2) {
                    late_for_host += *(volatile unsigned char *)last == OLD;
                } else {
                    TRY(cuMemcpyDtoHAsync(w.seen, last, 1, w.stream));
                    TRY(cuStreamSynchronize(w.stream));
                    late_for_stream += w.seen[0] == OLD;
                }
            }
            say("%s of %s, pageable to managed: late for the host %d, for a stream %d of %d\n",
                named ? "cuMemcpyHtoD" : "cuMemcpy", size_text(sizes[i]), late_for_host,
                late_for_stream, TIMES);
        }
}

/* ---- frees and hints ---- */

static void keep_busy(void)
{
    TRY(cuLaunchHostFunc(w.stream, sleeper, (void *)(uintptr_t)BUSY_MS));
}

static CUdeviceptr managed_block(void)
{
    CUdeviceptr block = 0;
    TRY(cuMemAllocManaged(&block, MB, CU_MEM_ATTACH_GLOBAL));
    memset((void *)block, OLD, MB);
    return block;
}

static void ask_frees(void)
{
    CUdeviceptr in_flight = managed_block(), unrelated = managed_block();
    keep_busy();
    TRY(cuMemcpyAsync(w.to[PINNED], in_flight, MB, w.stream));
    say(" unrelated %.0f ms,", MS(cuMemFree(unrelated)));
    settle();
    keep_busy();
    TRY(cuMemcpyAsync(w.to[PINNED], in_flight, MB, w.stream));
    say(" in flight %.0f ms", MS(cuMemFree(in_flight)));
    settle();
}

static CUmemLocation at_device(void)
{
    return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

static CUmemLocation at_host(void)
{
    return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST};
}

/* While a copy is to read `from` and another to write `to`. */
static CUresult hint(int which, CUdeviceptr from, CUdeviceptr to)
{
    switch (which) {
    case 0:
        return cuMemPrefetchAsync(from, MB, at_device(), 0, w.other);
    case 1:
        return cuMemPrefetchAsync(to, MB, at_device(), 0, w.other);
    case 2:
        return cuMemPrefetchAsync(from, MB, at_host(), 0, w.other);
    case 3:
        return cuMemPrefetchAsync(to, MB, at_host(), 0, w.other);
    case 4:
        return cuMemAdvise(from, MB, CU_MEM_ADVISE_SET_READ_MOSTLY, at_device());
    case 5:
        return cuMemAdvise(to, MB, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, at_device());
    case 6:
        return cuMemAdvise(to, MB, CU_MEM_ADVISE_SET_ACCESSED_BY, at_device());
    case 7:
        return cuStreamAttachMemAsync(w.other, from, 0, CU_MEM_ATTACH_SINGLE);
    default:
        return cuStreamAttachMemAsync(w.other, to, 0, CU_MEM_ATTACH_HOST);
    }
}

static void ask_hints(void)
{
    static const char *const names[] = {"prefetch of the source to the device",
                                        "prefetch of the target to the device",
                                        "prefetch of the source to the host",
                                        "prefetch of the target to the host",
                                        "read-mostly",
                                        "preferred location",
                                        "accessed by",
                                        "attach to a stream",
                                        "attach to the host"};
    for (size_t i = 0; i < COUNT(names); i++) {
        CUdeviceptr from = managed_block(), to = managed_block();
        memset((void *)from, NEW, MB);
        settle();
        keep_busy();
        TRY(cuMemcpyAsync(to, from, MB, w.stream));
        uint64_t start = now_ns();
        CUresult rc = hint((int)i, from, to);
        double took_ms = ms_since(start);
        settle();
        say("%s: %.1f ms, %d, the copy came %s\n", names[i], took_ms, (int)rc,
            last_byte(MANAGED, to, MB) == NEW ? "right" : "wrong");
        TRY(cuMemFree(from));
        TRY(cuMemFree(to));
    }
}

/* ---- what is said of its pages ---- */

static void say_of_pages(const char *when, CUdeviceptr block)
{
    unsigned char resident[MB / 4096];
    unsigned type = 0, managed = 0;
    size_t there = 0;
    int location = 0;
    memset(resident, 0, sizeof resident);
    int rc = mincore((void *)block, MB, resident);
    for (size_t i = 0; i < sizeof resident; i++)
        there += resident[i] & 1;
    TRY(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block));
    TRY(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, block));
    TRY(cuMemRangeGetAttribute(&location, sizeof location,
                               CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, block, MB));
    say("%s: memory type %u, managed %u, prefetched to %d, mincore %d: %zu of %zu pages\n", when,
        type, managed, location, rc, there, sizeof resident);
}

static void ask_pages(void)
{
    CUdeviceptr block = 0;
    int concurrent = 0;
    TRY(cuDeviceGetAttribute(&concurrent, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device));
    say("concurrentManagedAccess %d\n", concurrent);
    TRY(cuMemAllocManaged(&block, MB, CU_MEM_ATTACH_GLOBAL));
    say_of_pages("new", block);
    memset((void *)block, OLD, MB);
    say_of_pages("written by the host", block);
    TRY(cuMemPrefetchAsync(block, MB, at_device(), 0, w.stream));
    settle();
    say_of_pages("prefetched to the device", block);
    TRY(cuMemPrefetchAsync(block, MB, at_host(), 0, w.stream));
    settle();
    say_of_pages("prefetched back", block);
    TRY(cuMemsetD8(block, NEW, MB));
    settle();
    say_of_pages("written by the device", block);
    (void)*(volatile unsigned char *)block;
    say_of_pages("then one byte read by the host", block);
    TRY(cuMemcpyAsync(w.to[ON_DEVICE], block, MB, w.stream));
    settle();
    say_of_pages("then copied to the device", block);
}

/* As the library reads sources: by the kernel, and plainly. */
static void say_reading(const char *when, CUdeviceptr block)
{
    static unsigned char bytes[4096];
    struct iovec to = {bytes, sizeof bytes}, from = {(void *)block, sizeof bytes};
    uint64_t start = now_ns();
    ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    double by_kernel_ms = ms_since(start);
    start = now_ns();
    memcpy(bytes, (void *)(block + MB / 2), sizeof bytes);
    say("%s: process_vm_readv %zd in %.3f ms, memcpy in %.3f ms\n", when, got, by_kernel_ms,
        ms_since(start));
}

static void ask_reading(void)
{
    CUdeviceptr block = managed_block();
    say_reading("written by the host", block);
    TRY(cuMemsetD8(block, NEW, MB));
    settle();
    say_reading("written by the device", block);
    TRY(cuMemsetD8(block, OLD, MB));
    settle();
    keep_busy();
    TRY(cuMemsetD8Async(block, NEW, MB, w.stream));
    say_reading("while the device is to write it", block);
    settle();
    double first_ms = MS(cuMemcpyDtoH(w.seen, block, MB));
    double second_ms = MS(cuMemcpyDtoH(w.seen, block, MB));
    say("copied out: %.3f ms, and once more %.3f ms\n", first_ms, second_ms);
}

/* ---- protection: each question may cost the process or the context ---- */

static void say_protected(const char *what, int access, bool to_it)
{
    CUdeviceptr block = managed_block();
    TRY(cuMemsetD8(w.to[ON_DEVICE], NEW, MB));
    settle();
    say("%s:", what);
    say(" mprotect %d,", mprotect((void *)block, MB, access));
    say(" copy %d,", to_it ? (int)cuMemcpyAsync(block, w.to[ON_DEVICE], MB, w.stream)
                           : (int)cuMemcpyAsync(w.to[ON_DEVICE], block, MB, w.stream));
    say(" synchronise %d,", (int)cuStreamSynchronize(w.stream));
    say(" back %d,", mprotect((void *)block, MB, PROT_READ | PROT_WRITE));
    unsigned char wanted = to_it ? NEW : OLD;
    unsigned char got = last_byte(to_it ? MANAGED : ON_DEVICE, to_it ? block : w.to[ON_DEVICE], MB);
    say(" data %s\n", got == wanted ? "right" : "wrong");
}

static void ask_read_only_source(void)
{
    say_protected("read-only, a copy reads it", PROT_READ, false);
}

static void ask_read_only_target(void)
{
    say_protected("read-only, a copy writes it", PROT_READ, true);
}

static void ask_closed_source(void)
{
    say_protected("inaccessible, a copy reads it", PROT_NONE, false);
}

static void ask_closed_target(void)
{
    say_protected("inaccessible, a copy writes it", PROT_NONE, true);
}

#define LIST_WAY(id, word, function, to, from, access) {.name = word, .ask = ask_##id},

static const struct question questions[] = {
    WAYS(LIST_WAY){.name = "early", .ask = ask_early},
    {.name = "landed", .ask = ask_landed},
    {.name = "frees", .ask = ask_frees, .text = "cuMemFree of managed memory behind 40 ms"},
    {.name = "hints", .ask = ask_hints},
    {.name = "pages", .ask = ask_pages},
    {.name = "reading", .ask = ask_reading},
    {.name = "read-only-source", .ask = ask_read_only_source},
    {.name = "read-only-target", .ask = ask_read_only_target},
    {.name = "closed-source", .ask = ask_closed_source},
    {.name = "closed-target", .ask = ask_closed_target},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_managed",
        .questions = questions,
        .count = COUNT(questions),
        .set_up = set_up,
        .question_s = 30,
        .in_sections = true,
    };

    return ask_all(&inquiry, argc, argv);
}

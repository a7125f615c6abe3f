/* When asynchronous copies read managed memory and write it, by every way there is, beside memory
 * of every other kind; which of their calls wait; and what small and synchronous copies do with it.
 * The rules behind the cells are in docs/driver.md.
 *
 * A host function keeps a stream busy for BUSY_MS, or until the cell is asked. A copy is issued
 * behind it, and its source is overwritten when the call has returned. An answer to that is `call
 * target arrived`:
 *
 *     call      b: it returned when the stream was done; a: at once; eN: it failed with N
 *     target    s: it held the old bytes at the return; c: it was complete; -: the host cannot look
 *     arrived   o: what the source held at the call; N: what it was overwritten with; -: the source
 *               is device memory, which stays as it was; x: something else
 */
#include "asking.h"

#include "places.h"

#include <stdatomic.h>
#include <string.h>

enum { BUSY_MS = 40 };

#include "held_up.h"

static const char *const place_names[PLACES] = {"device", "managed", "pinned", "registered",
                                                "pageable"};

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

/* What the stream is busy with, until it is over or the time is. */
enum { STEP_MS = 5 };
static _Atomic bool is_asked, is_over;

static void CUDA_CB keep_busy(void *unused)
{
    (void)unused;
    for (unsigned had_ms = 0; !is_asked && had_ms < BUSY_MS; had_ms += STEP_MS)
        sleep_patiently(STEP_MS * 1000);
    is_over = true;
}

static void fill(enum place place, CUdeviceptr at, int value, size_t bytes)
{
    if (place != ON_DEVICE)
        memset((void *)at, value, bytes);
    else
        TRY(cuMemsetD8(at, (unsigned char)value, bytes));
    settle();
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
    is_asked = is_over = false;
    TRY(cuLaunchHostFunc(w.stream, keep_busy, NULL));
    CUresult rc = way->copy(way, w.to[to], w.from[from], bytes, w.stream);
    bool blocked = is_over;
    say(" %s:", place_names[from]);
    if (rc != CUDA_SUCCESS) {
        say("e%d", (int)rc);
        settle();
        return;
    }
    bool stale = to != ON_DEVICE && last_byte(to, w.to[to], bytes) == BLANK;
    if (from != ON_DEVICE)
        memset((void *)w.from[from], NEW, bytes);
    is_asked = true;
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

/* Of cuMemcpyAsync also large copies. */
#define DEFINE_WAY(id, word, function, to, from, access)                                           \
    static void ask_##id(void)                                                                     \
    {                                                                                              \
        static const struct way way = {function, to, from, (CUmemcpySrcAccessOrder)(access)};      \
        ask_way(&way, 64 * KB);                                                                    \
        if (way.copy == plain)                                                                     \
            ask_way(&way, LARGEST);                                                                \
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
            TRY(cuLaunchHostFunc(LEGACY, hold_up, NULL));
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

#define LIST_WAY(id, word, function, to, from, access) {.name = word, .ask = ask_##id},

static const struct question questions[] = {
    WAYS(LIST_WAY){.name = "early", .ask = ask_early},
    {.name = "landed", .ask = ask_landed},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "conformance_managed",
        .questions = questions,
        .count = COUNT(questions),
        .set_up = set_up,
        .question_s = 30,
        .in_sections = true,
        .untimed = true,
    };

    return ask_all(&inquiry, argc, argv);
}

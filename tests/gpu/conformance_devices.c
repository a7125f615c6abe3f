/* needs: multi-gpu
 * sim: devices=2
 *
 * What a driver orders between two devices, as rows of text: copies between them, whatever their
 * streams, calls that wait for work of one and not of the other, events, pinned memory that all may
 * use, and a reset of one device while the other works.
 */
#include "rows.h"

#include <stdbool.h>
#include <string.h>

enum { BYTES = 1 << 16, OLD = 0x11, NEW = 0x22, LATER = 0x33 };

/* Each of two devices has its primary context, a stream of every kind, and two blocks. */
enum { BLOCKING, NON_BLOCKING, LEGACY_KIND, KINDS };

static const char *const kind_names[KINDS] = {"a blocking stream", "a non-blocking stream",
                                              "the legacy stream"};

static struct side {
    CUdevice device;
    CUcontext context;
    CUstream streams[KINDS];
    CUdeviceptr block, result;
} sides[2];

static void enter(const struct side *side)
{
    NEED(cuCtxSetCurrent(side->context));
}

static void make_side(int device)
{
    struct side *side = &sides[device];
    NEED(cuDeviceGet(&side->device, device));
    NEED(cuDevicePrimaryCtxRetain(&side->context, side->device));
    enter(side);
    NEED(cuStreamCreate(&side->streams[BLOCKING], CU_STREAM_DEFAULT));
    NEED(cuStreamCreate(&side->streams[NON_BLOCKING], CU_STREAM_NON_BLOCKING));
    side->streams[LEGACY_KIND] = CU_STREAM_LEGACY;
    NEED(cuMemAlloc(&side->block, BYTES));
    NEED(cuMemAlloc(&side->result, BYTES));
    NEED(cuMemsetD8(side->result, 0, BYTES));
}

static void settle(void)
{
    for (int i = 0; i < 2; i++) {
        enter(&sides[i]);
        NEED(cuCtxSynchronize());
    }
}

static void fill(const struct side *side, CUdeviceptr block, unsigned char value)
{
    enter(side);
    NEED(cuMemsetD8(block, value, BYTES));
    NEED(cuCtxSynchronize());
}

static void keep_busy(const struct side *side, int kind)
{
    enter(side);
    NEED(cuLaunchHostFunc(side->streams[kind], hold_up, NULL));
}

static unsigned char last_byte(const struct side *side, CUdeviceptr block)
{
    unsigned char byte = 0;
    enter(side);
    NEED(cuMemcpyDtoH(&byte, block + BYTES - 1, 1));
    return byte;
}

/* ---- copies between devices ---- */

static CUresult peer(CUstream stream)
{
    (void)stream;
    return cuMemcpyPeer(sides[1].block, sides[1].context, sides[0].block, sides[0].context, BYTES);
}

static const CUDA_MEMCPY3D_PEER *box(void)
{
    static CUDA_MEMCPY3D_PEER copy;
    copy = (CUDA_MEMCPY3D_PEER){
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = sides[0].block,
        .srcContext = sides[0].context,
        .srcPitch = 256,
        .srcHeight = BYTES / 256,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = sides[1].block,
        .dstContext = sides[1].context,
        .dstPitch = 256,
        .dstHeight = BYTES / 256,
        .WidthInBytes = 256,
        .Height = BYTES / 256,
        .Depth = 1,
    };
    return &copy;
}

static CUresult peer_box(CUstream stream)
{
    (void)stream;
    return cuMemcpy3DPeer(box());
}

static CUresult unified(CUstream stream)
{
    (void)stream;
    return cuMemcpy(sides[1].block, sides[0].block, BYTES);
}

static CUresult within(CUstream stream)
{
    (void)stream;
    return cuMemcpyDtoD(sides[1].block, sides[0].block, BYTES);
}

static CUresult peer_async(CUstream stream)
{
    return cuMemcpyPeerAsync(sides[1].block, sides[1].context, sides[0].block, sides[0].context,
                             BYTES, stream);
}

static CUresult unified_async(CUstream stream)
{
    return cuMemcpyAsync(sides[1].block, sides[0].block, BYTES, stream);
}

/* The asynchronous ones are given a non-blocking stream of device 0. */
static const struct {
    const char *name;
    CUresult (*copy)(CUstream stream);
} copies[] = {
    {"cuMemcpyPeer", peer},   {"cuMemcpy3DPeer", peer_box},      {"cuMemcpy", unified},
    {"cuMemcpyDtoD", within}, {"cuMemcpyPeerAsync", peer_async}, {"cuMemcpyAsync", unified_async},
};
enum { COPIES = sizeof copies / sizeof copies[0] };

static CUstream copying_stream; /* of device 0, non-blocking */

static void copy_between(int copy)
{
    enter(&sides[0]);
    NEED(copies[copy].copy(copying_stream));
}

static void say_of(const char *name, int kind, int of, const char *answer)
{
    char variant[80];
    snprintf(variant, sizeof variant, "%s of the %s's device", kind_names[kind],
             of == 0 ? "source" : "target");
    say(name, variant, answer);
}

/* A stream writes the source late (of device 0), or the target (of device 1): is the copy behind
 * that? */
static void copy_behind(int copy, int kind, int of)
{
    fill(&sides[0], sides[0].block, OLD);
    fill(&sides[1], sides[1].block, 0);
    settle();
    keep_busy(&sides[of], kind);
    NEED(cuMemsetD8Async(sides[of].block, NEW, BYTES, sides[of].streams[kind]));
    copy_between(copy);
    settle();
    /* Behind it: what was written to the source arrives, what was written to the target is lost. */
    const unsigned char wanted = of == 0 ? NEW : OLD;
    say_of(copies[copy].name, kind, of,
           last_byte(&sides[1], sides[1].block) == wanted ? "behind it" : "NOT behind it");
}

/* The copy is held up by its own stream or by the legacy stream of device 0. Then a stream writes
 * the source, or the target: is that behind the copy? */
static void copy_before(int copy, int kind, int of)
{
    const bool is_async = copies[copy].copy == peer_async || copies[copy].copy == unified_async;
    fill(&sides[0], sides[0].block, OLD);
    fill(&sides[1], sides[1].block, 0);
    settle();
    enter(&sides[0]);
    NEED(cuLaunchHostFunc(is_async ? copying_stream : CU_STREAM_LEGACY, hold_up, NULL));
    copy_between(copy);
    enter(&sides[of]);
    NEED(cuMemsetD8Async(sides[of].block, LATER, BYTES, sides[of].streams[kind]));
    settle();
    const unsigned char wanted = of == 0 ? OLD : LATER;
    say_of(copies[copy].name, kind, of,
           last_byte(&sides[1], sides[1].block) == wanted ? "behind the copy"
                                                          : "NOT behind the copy");
}

static void copy_rows(const char *name, void (*ask)(int copy, int kind, int of))
{
    section = name;
    for (int copy = 0; copy < COPIES; copy++)
        for (int of = 0; of < 2; of++)
            for (int kind = 0; kind < KINDS; kind++)
                ask(copy, kind, of);
}

/* ---- calls that wait: on one device, for which? ---- */

static void *pinned, *registered_here;
static unsigned char registered[2 * BYTES] __attribute__((aligned(4096)));
static CUdeviceptr spare[2];

static CUresult free_block(void)
{
    return cuMemFree(spare[1]);
}

static CUresult free_pinned(void)
{
    return cuMemFreeHost(pinned);
}

static CUresult unregister(void)
{
    return cuMemHostUnregister(registered_here);
}

static CUresult copy_up(void)
{
    static unsigned char byte;
    return cuMemcpyHtoD(sides[1].result, &byte, 1);
}

static CUresult set_bytes(void)
{
    return cuMemsetD8(sides[1].result, 0, BYTES);
}

static CUresult allocate(void)
{
    CUdeviceptr more = 0;
    return cuMemAlloc(&more, BYTES);
}

static CUresult allocate_pinned(void)
{
    void *more = NULL;
    return cuMemHostAlloc(&more, BYTES, CU_MEMHOSTALLOC_PORTABLE);
}

static CUresult make_stream(void)
{
    CUstream stream = NULL;
    return cuStreamCreate(&stream, CU_STREAM_DEFAULT);
}

static CUresult peer_access(void)
{
    CUresult result = cuCtxEnablePeerAccess(sides[0].context, 0);
    return result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED ? CUDA_SUCCESS : result;
}

/* All are made on device 1. The memory of the first three was made there as well. */
static const struct {
    const char *name;
    CUresult (*call)(void);
} waits[] = {
    {"cuMemFree", free_block},
    {"cuMemFreeHost", free_pinned},
    {"cuMemHostUnregister", unregister},
    {"cuCtxSynchronize", cuCtxSynchronize},
    {"cuMemcpyHtoD", copy_up},
    {"cuMemsetD8", set_bytes},
    {"cuMemAlloc", allocate},
    {"cuMemHostAlloc", allocate_pinned},
    {"cuStreamCreate", make_stream},
    {"cuCtxEnablePeerAccess", peer_access},
};

static void wait_row(size_t number, int busy, int kind, unsigned flags)
{
    char variant[80];
    settle();
    enter(&sides[1]);
    NEED(cuMemAlloc(&spare[1], BYTES));
    NEED(cuMemHostAlloc(&pinned, BYTES, flags));
    registered_here = registered;
    NEED(cuMemHostRegister(registered_here, BYTES, flags & 1 ? CU_MEMHOSTREGISTER_PORTABLE : 0));
    keep_busy(&sides[busy], kind);
    enter(&sides[1]);
    unsigned over_before = over;
    NEED(waits[number].call());
    const char *answer = waited(over_before);
    snprintf(variant, sizeof variant, "%s of %s is busy%s", kind_names[kind],
             busy == 1 ? "the same device" : "the other device", flags ? ", portable" : "");
    say(waits[number].name, variant, answer);
    settle();
    enter(&sides[1]);
    if (waits[number].call != unregister)
        NEED(cuMemHostUnregister(registered_here));
}

static void wait_rows(void)
{
    section = "waits";
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        wait_row(i, 1, NON_BLOCKING, 0);
        wait_row(i, 0, NON_BLOCKING, 0);
        wait_row(i, 0, LEGACY_KIND, 0);
    }
    wait_row(1, 0, NON_BLOCKING, CU_MEMHOSTALLOC_PORTABLE);
    wait_row(2, 0, NON_BLOCKING, CU_MEMHOSTALLOC_PORTABLE);
}

/* ---- events ---- */

static const char *number(CUresult result)
{
    static char text[16];
    snprintf(text, sizeof text, "%d", (int)result);
    return text;
}

static void event_rows(void)
{
    CUevent event = NULL, timed[2] = {NULL, NULL};
    float ms = 0;
    section = "events";
    settle();
    enter(&sides[0]);
    NEED(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    NEED(cuEventCreate(&timed[0], CU_EVENT_DEFAULT));
    say("cuEventRecord", "in a stream of the other device",
        number(cuEventRecord(event, sides[1].streams[NON_BLOCKING])));
    enter(&sides[1]);
    NEED(cuEventCreate(&timed[1], CU_EVENT_DEFAULT));
    say("cuEventRecord", "in a stream of its own, with the other device current",
        number(cuEventRecord(event, sides[0].streams[NON_BLOCKING])));
    keep_busy(&sides[0], NON_BLOCKING);
    NEED(cuEventRecord(event, sides[0].streams[NON_BLOCKING]));
    NEED(cuStreamWaitEvent(sides[1].streams[NON_BLOCKING], event, 0));
    enter(&sides[1]);
    unsigned over_before = over;
    NEED(cuStreamSynchronize(sides[1].streams[NON_BLOCKING]));
    say("cuStreamWaitEvent", "of the other device's event", waited(over_before));
    say("cuEventQuery", "of the other device's event", number(cuEventQuery(event)));
    NEED(cuEventRecord(timed[0], sides[0].streams[NON_BLOCKING]));
    NEED(cuEventRecord(timed[1], sides[1].streams[NON_BLOCKING]));
    settle();
    say("cuEventElapsedTime", "of events of two devices",
        number(cuEventElapsedTime(&ms, timed[0], timed[1])));
}

/* ---- pinned memory ---- */

static CUresult copy_by(const struct side *side, void *host)
{
    enter(side);
    CUresult result = cuMemcpyHtoDAsync(side->result, host, BYTES, side->streams[NON_BLOCKING]);
    return result == CUDA_SUCCESS ? cuStreamSynchronize(side->streams[NON_BLOCKING]) : result;
}

static void pinned_rows(void)
{
    static const struct {
        const char *name;
        unsigned flags;
    } made[] = {{"made by the other device", 0},
                {"made by the other device, portable", CU_MEMHOSTALLOC_PORTABLE}};
    section = "pinned";
    for (int i = 0; i < 2; i++) {
        CUdeviceptr seen = 0;
        unsigned char *host = NULL;
        enter(&sides[1]);
        NEED(cuMemHostAlloc((void **)&host, BYTES, made[i].flags));
        memset(host, NEW, BYTES);
        say("cuMemcpyHtoDAsync", made[i].name, number(copy_by(&sides[0], host)));
        enter(&sides[0]);
        say("cuMemHostGetDevicePointer", made[i].name,
            number(cuMemHostGetDevicePointer(&seen, host, 0)));
        say("cuMemFreeHost", made[i].name, number(cuMemFreeHost(host)));
    }
}

/* ---- a reset of one while the other works; the last rows, since device 1 has nothing then ---- */

static void reset_rows(void)
{
    unsigned char *kept = NULL, *gone = NULL;
    section = "reset of device 1";
    settle();
    enter(&sides[0]);
    NEED(cuMemHostAlloc((void **)&kept, BYTES, CU_MEMHOSTALLOC_PORTABLE));
    enter(&sides[1]);
    NEED(cuMemHostAlloc((void **)&gone, BYTES, CU_MEMHOSTALLOC_PORTABLE));
    memset(kept, NEW, BYTES);
    keep_busy(&sides[0], NON_BLOCKING);
    NEED(cuMemcpyHtoDAsync(sides[0].result, kept, BYTES, sides[0].streams[NON_BLOCKING]));
    unsigned over_before = over;
    NEED(cuDevicePrimaryCtxReset(sides[1].device));
    say("cuDevicePrimaryCtxReset", "while device 0 is busy", waited(over_before));
    enter(&sides[0]);
    say("cuStreamSynchronize", "of device 0",
        number(cuStreamSynchronize(sides[0].streams[NON_BLOCKING])));
    say("cuMemcpyHtoDAsync", "of device 0's work",
        last_byte(&sides[0], sides[0].result) == NEW ? "done" : "LOST");
    say("cuMemHostGetDevicePointer", "of what device 1 had made, portable",
        number(cuMemHostGetDevicePointer(&(CUdeviceptr){0}, gone, 0)));
    say("cuStreamQuery", "of device 1's stream",
        number(cuStreamQuery(sides[1].streams[NON_BLOCKING])));
}

int main(void)
{
    NEED(cuInit(0));
    make_side(0);
    make_side(1);
    enter(&sides[0]);
    NEED(cuStreamCreate(&copying_stream, CU_STREAM_NON_BLOCKING));
    settle();
    copy_rows("behind", copy_behind);
    copy_rows("before", copy_before);
    wait_rows();
    event_rows();
    pinned_rows();
    reset_rows();
    return 0;
}

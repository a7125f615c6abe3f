/*
 * What this driver does with green contexts, as rows of text: whose streams and memory theirs are,
 * which waits are waits for them, and what is left of them when they have ended.
 *
 * What an H200 dies of is not asked: cuCtxPushCurrent of a green context that has ended.
 */
#include "rows.h"

#include "tests/green_context.h"

#include <stdbool.h>
#include <stdlib.h>

enum { BYTES = 1 << 16 };

static CUcontext primary, context; /* the second is the green one's */
static CUgreenCtx green;
static CUstream own, in_green;
static CUdeviceptr device;
static void *pinned;

static const char *number(CUresult result)
{
    static char text[16];
    snprintf(text, sizeof text, "%d", (int)result);
    return text;
}

static const char *whose(CUcontext answer)
{
    if (answer == primary)
        return "the primary context";
    return answer == context ? "the green context" : "another";
}

static void push_green(void)
{
    NEED(cuCtxPushCurrent(context));
}

static void pop(void)
{
    CUcontext popped;
    NEED(cuCtxPopCurrent(&popped));
}

/* ---- what they are ---- */

static void identity_rows(void)
{
    CUcontext of = NULL;
    CUgreenCtx found = NULL;
    CUstream stream = NULL;
    NEED(cuStreamGetCtx(in_green, &of));
    say("cuStreamGetCtx", "stream of a green context", whose(of));
    NEED(cuStreamGetCtx_v2(in_green, &of, &found));
    say("cuStreamGetCtx_v2", "stream of a green context", whose(of));
    say("cuStreamGetCtx_v2", "stream of a green context, its handle",
        found == green ? "the green one" : "none");
    NEED(cuStreamGetCtx_v2(CU_STREAM_LEGACY, &of, &found));
    say("cuStreamGetCtx_v2", "legacy stream, primary context current",
        found ? "a green one" : "no green one");
    push_green();
    NEED(cuStreamGetCtx_v2(CU_STREAM_LEGACY, &of, &found));
    say("cuStreamGetCtx_v2", "legacy stream, green context current",
        of == primary && found == green ? "the primary and the green one" : "other");
    say("cuStreamQuery", "per-thread stream, green context current",
        number(cuStreamQuery(CU_STREAM_PER_THREAD)));
    say("cuStreamCreate", "blocking, green context current",
        number(cuStreamCreate(&stream, CU_STREAM_DEFAULT)));
    pop();
    say("cuGreenCtxStreamCreate", "blocking",
        number(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_DEFAULT, 0)));
    say("CUgreenCtx and CUcontext", "handles",
        (void *)green == (void *)context ? "equal" : "different");
}

static void memory_rows(void)
{
    void *memory = NULL;
    CUcontext of = NULL;
    push_green();
    NEED(cuMemAllocHost(&memory, BYTES));
    NEED(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)(uintptr_t)memory));
    say("cuMemAllocHost", "green context current", whose(of));
    pop();
    say("cuMemFreeHost", "the same, primary context current", number(cuMemFreeHost(memory)));
}

static void use_rows(void)
{
    NEED(cuCtxSetCurrent(NULL));
    say("cuMemcpyHtoDAsync", "stream of a green context, no context current",
        number(cuMemcpyHtoDAsync(device, pinned, BYTES, in_green)));
    NEED(cuCtxSetCurrent(primary));
    NEED(cuStreamSynchronize(in_green));
}

/* ---- what waits for them ---- */

static void keep_busy(CUstream stream)
{
    NEED(cuLaunchHostFunc(stream, hold_up, NULL));
}

enum wait { SYNCHRONIZE, FREE, FREE_HOST, UNREGISTER, LEGACY, COPY, WAITS };
static const char *const waits[] = {"cuCtxSynchronize",    "cuMemFree",           "cuMemFreeHost",
                                    "cuMemHostUnregister", "cuStreamSynchronize", "cuMemcpyHtoD"};

static void do_wait(enum wait wait, CUdeviceptr memory, void *host)
{
    if (wait == SYNCHRONIZE)
        NEED(cuCtxSynchronize());
    else if (wait == FREE)
        NEED(cuMemFree(memory));
    else if (wait == FREE_HOST)
        NEED(cuMemFreeHost(host));
    else if (wait == UNREGISTER)
        NEED(cuMemHostUnregister(host));
    else if (wait == LEGACY)
        NEED(cuStreamSynchronize(CU_STREAM_LEGACY));
    else
        NEED(cuMemcpyHtoD(device, pinned, BYTES));
}

static void wait_row(enum wait wait, CUstream busy, const char *variant)
{
    CUdeviceptr memory = 0;
    void *host = NULL, *block = NULL;
    if (wait == FREE)
        NEED(cuMemAlloc(&memory, BYTES));
    if (wait == FREE_HOST)
        NEED(cuMemAllocHost(&host, BYTES));
    if (wait == UNREGISTER) {
        host = block = aligned_alloc(4096, BYTES);
        NEED(cuMemHostRegister(block, BYTES, 0));
    }
    keep_busy(busy);
    unsigned over_before = over;
    do_wait(wait, memory, host);
    const char *answer = waited(over_before);
    NEED(cuStreamSynchronize(busy));
    say(waits[wait], variant, answer);
    free(block);
}

static void wait_rows(void)
{
    for (int wait = 0; wait < WAITS; wait++)
        wait_row((enum wait)wait, in_green, "primary context current, green stream busy");
    push_green();
    for (int wait = 0; wait < WAITS; wait++)
        wait_row((enum wait)wait, own, "green context current, primary one's stream busy");
    wait_row(SYNCHRONIZE, in_green, "green context current, its stream busy");
    pop();
}

/* ---- events of contexts ---- */

static CUevent new_event(void)
{
    CUevent event = NULL;
    NEED(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

/* It is recorded while `busy` is at work: does the host find it complete? */
static void record_row(const char *call, CUresult (*record)(CUevent), CUstream busy,
                       const char *variant)
{
    CUevent event = new_event();
    keep_busy(busy);
    NEED(record(event));
    const char *answer = number(cuEventQuery(event));
    NEED(cuStreamSynchronize(busy));
    NEED(cuEventSynchronize(event));
    say(call, variant, answer);
    NEED(cuEventDestroy(event));
}

static CUresult record_primary(CUevent event)
{
    return cuCtxRecordEvent(primary, event);
}

static CUresult record_green(CUevent event)
{
    return cuGreenCtxRecordEvent(green, event);
}

static CUresult record_as_context(CUevent event)
{
    return cuCtxRecordEvent(context, event);
}

/* Its context waits for work elsewhere. What a query of the stream says, and one of an event that
 * is recorded there, which is the first that is done there. */
static void behind_wait_row(const char *call, CUstream stream, const char *variant)
{
    CUevent event = new_event();
    char answer[32];
    CUresult idle = cuStreamQuery(stream);
    NEED(cuEventRecord(event, stream));
    snprintf(answer, sizeof answer, "%d/%d", (int)idle, (int)cuEventQuery(event));
    say(call, variant, answer);
    NEED(cuEventDestroy(event));
}

static CUstream new_stream(CUgreenCtx of)
{
    CUstream stream = NULL;
    if (of)
        NEED(cuGreenCtxStreamCreate(&stream, of, CU_STREAM_NON_BLOCKING, 0));
    else
        NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static void synchronise_row(const char *call, const char *variant)
{
    unsigned over_before = over;
    NEED(cuCtxSynchronize());
    say(call, variant, waited(over_before));
}

static CUresult wait_primary(CUevent event)
{
    return cuCtxWaitEvent(primary, event);
}

static CUresult wait_green(CUevent event)
{
    return cuGreenCtxWaitEvent(green, event);
}

static void let_wait(CUresult (*wait)(CUevent))
{
    CUevent event = new_event();
    keep_busy(own);
    NEED(cuEventRecord(event, own));
    NEED(wait(event));
    NEED(cuEventDestroy(event));
}

static void context_wait_rows(void)
{
    CUstream idle = new_stream(green);
    let_wait(wait_green);
    CUstream later = new_stream(green);
    behind_wait_row("cuGreenCtxWaitEvent", idle, "its idle stream: query, event recorded there");
    behind_wait_row("cuGreenCtxWaitEvent", later, "the same, stream created afterwards");
    NEED(cuCtxSynchronize());
    NEED(cuStreamDestroy(later));
    let_wait(wait_primary);
    later = new_stream(NULL);
    behind_wait_row("cuCtxWaitEvent", later, "stream created afterwards: query, event");
    behind_wait_row("cuCtxWaitEvent", idle, "the same, stream of a green context");
    NEED(cuCtxSynchronize());
    NEED(cuStreamDestroy(later));
    NEED(cuStreamDestroy(idle));

    push_green();
    let_wait(wait_green);
    synchronise_row("cuGreenCtxWaitEvent", "and cuCtxSynchronize, green context current");
    let_wait(wait_primary);
    synchronise_row("cuCtxWaitEvent", "and cuCtxSynchronize, green context current");
    pop();
    NEED(cuCtxSynchronize());
}

static void captured_row(const char *call, CUresult (*made)(CUevent), CUstreamCaptureMode mode,
                         const char *variant)
{
    CUevent event = new_event();
    CUgraph graph = NULL;
    char answer[32];
    NEED(cuStreamBeginCapture(own, mode));
    CUresult result = made(event);
    CUresult end = cuStreamEndCapture(own, &graph);
    snprintf(answer, sizeof answer, "%d/%d", (int)result, (int)end);
    say(call, variant, answer);
    if (graph)
        NEED(cuGraphDestroy(graph));
    NEED(cuEventDestroy(event));
}

static void context_event_rows(void)
{
    record_row("cuCtxRecordEvent", record_primary, own, "primary context, its stream busy");
    record_row("cuCtxRecordEvent", record_primary, in_green, "primary context, green stream busy");
    record_row("cuCtxRecordEvent", record_as_context, in_green, "green context, its stream busy");
    record_row("cuGreenCtxRecordEvent", record_green, in_green, "its stream busy");
    record_row("cuGreenCtxRecordEvent", record_green, own, "primary one's stream busy");
    context_wait_rows();
    captured_row("cuCtxRecordEvent", record_primary, CU_STREAM_CAPTURE_MODE_GLOBAL,
                 "a stream of the context captures");
    captured_row("cuCtxRecordEvent", record_primary, CU_STREAM_CAPTURE_MODE_RELAXED,
                 "a stream of the context captures, relaxed");
    captured_row("cuCtxWaitEvent", wait_primary, CU_STREAM_CAPTURE_MODE_GLOBAL,
                 "a stream of the context captures");
    captured_row("cuGreenCtxRecordEvent", record_green, CU_STREAM_CAPTURE_MODE_GLOBAL,
                 "a stream of the primary context captures");
}

/* ---- their legacy stream in a capture ---- */

static const char *counted(CUgraph graph)
{
    size_t nodes = 0;
    NEED(cuGraphGetNodes(graph, NULL, &nodes));
    return number((CUresult)nodes);
}

static void legacy_capture_rows(void)
{
    CUgraph graph = NULL;
    push_green();
    say("cuStreamBeginCapture", "legacy stream, green context current",
        number(cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_GLOBAL)));
    say("cuMemcpyHtoDAsync", "the same, which captures",
        number(cuMemcpyHtoDAsync(device, pinned, BYTES, CU_STREAM_LEGACY)));
    pop();
    say("cuMemcpyHtoD", "primary context current, the green one's legacy stream captures",
        number(cuMemcpyHtoD(device, pinned, BYTES)));
    push_green();
    say("cuStreamEndCapture", "legacy stream, green context current",
        number(cuStreamEndCapture(CU_STREAM_LEGACY, &graph)));
    if (graph) {
        say("cuGraphGetNodes", "of that capture", counted(graph));
        NEED(cuGraphDestroy(graph));
    }
    pop();
}

/* ---- their end ---- */

static void end_rows(void)
{
    CUevent event = NULL;
    CUcontext of;
    NEED(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    keep_busy(in_green);
    NEED(cuEventRecord(event, in_green));
    unsigned over_before = over;
    NEED(cuGreenCtxDestroy(green));
    say("cuGreenCtxDestroy", "its stream busy", waited(over_before));
    say("cuEventQuery", "behind the work of a green context that has ended",
        number(cuEventQuery(event)));
    say("cuMemcpyHtoDAsync", "its stream",
        number(cuMemcpyHtoDAsync(device, pinned, BYTES, in_green)));
    say("cuStreamGetCtx", "its stream", number(cuStreamGetCtx(in_green, &of)));
    say("cuStreamDestroy", "its stream", number(cuStreamDestroy(in_green)));
    over_before = over;
    NEED(cuCtxSynchronize());
    say("cuCtxSynchronize", "primary context, its work not done", waited(over_before));
    say("cuEventQuery", "behind that", number(cuEventQuery(event)));
    say("cuEventDestroy", "behind that", number(cuEventDestroy(event)));
}

static bool start(void)
{
    if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&primary, 0) != CUDA_SUCCESS) {
        fputs("conformance_green: no usable GPU\n", stderr);
        return false;
    }
    NEED(cuCtxSetCurrent(primary));
    NEED(cuMemAlloc(&device, BYTES));
    NEED(cuMemAllocHost(&pinned, BYTES));
    NEED(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
    NEED(make_green_context(&green));
    NEED(cuGreenCtxStreamCreate(&in_green, green, CU_STREAM_NON_BLOCKING, 0));
    NEED(cuCtxFromGreenCtx(&context, green));
    return true;
}

int main(void)
{
    if (!start())
        return 77;
    section = "8 green contexts";
    identity_rows();
    memory_rows();
    use_rows();
    wait_rows();
    context_event_rows();
    legacy_capture_rows();
    end_rows();
    return 0;
}

/* probe_contexts: asks the CUDA driver what a wait of a context for an event holds up, and how
 * green contexts hold their primary one. The answers are in docs/driver.md.
 *
 *     gcc -std=gnu11 -O2 -pthread -I. -I/usr/local/cuda/include tests/gpu/probes/probe_contexts.c \
 *         tests/gpu/asking.c -o probe_contexts -ldl -lcuda
 *     ./probe_contexts              every question, under 30 s
 *     ./probe_contexts waits        these only
 */
#include "../asking.h"

#include "tests/green_context.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BUSY_MS = 200 };

static void keep_busy(CUstream stream)
{
    TRY(cuLaunchHostFunc(stream, sleeper, (void *)(uintptr_t)BUSY_MS));
}

/* ---- what a wait of a stream, or of a context, holds up ---- */

static CUgreenCtx waiting_green;

static CUresult wait_of_stream(CUstream stream, CUevent event)
{
    return cuStreamWaitEvent(stream, event, 0);
}

static CUresult wait_of_context(CUstream stream, CUevent event)
{
    (void)stream;
    return cuCtxWaitEvent(primary, event);
}

static CUresult wait_of_green(CUstream stream, CUevent event)
{
    (void)stream;
    return cuGreenCtxWaitEvent(waiting_green, event);
}

static CUstream own_stream(void)
{
    return new_stream(CU_STREAM_NON_BLOCKING);
}

static CUstream blocking_stream(void)
{
    return new_stream(CU_STREAM_DEFAULT);
}

static CUstream green_stream(void)
{
    CUstream stream = NULL;
    TRY(cuGreenCtxStreamCreate(&stream, waiting_green, CU_STREAM_NON_BLOCKING, 0));
    return stream;
}

static CUstream legacy_stream(void)
{
    return CU_STREAM_LEGACY;
}

static CUstream thread_stream(void)
{
    return CU_STREAM_PER_THREAD;
}

static const struct {
    const char *name;
    CUresult (*wait)(CUstream, CUevent);
    CUstream (*stream)(void);
    bool later; /* the stream is made behind the wait */
} waits[] = {
    {"a stream's, its own", wait_of_stream, own_stream, false},
    {"the context's, a stream", wait_of_context, own_stream, false},
    {"the context's, a blocking stream", wait_of_context, blocking_stream, false},
    {"the context's, a stream made later", wait_of_context, own_stream, true},
    {"the context's, the legacy stream", wait_of_context, legacy_stream, false},
    {"the context's, the per-thread stream", wait_of_context, thread_stream, false},
    {"the context's, a green stream", wait_of_context, green_stream, false},
    {"the context's, a green stream made later", wait_of_context, green_stream, true},
    {"the green one's, a green stream", wait_of_green, green_stream, false},
    {"the green one's, a green stream made later", wait_of_green, green_stream, true},
    {"the green one's, a stream of the primary one", wait_of_green, own_stream, false},
};

static CUdeviceptr waits_device;
static void *waits_pinned;

static void tell_query(CUstream stream, CUevent event)
{
    (void)event;
    say(" query %d,", (int)cuStreamQuery(stream));
}

static void tell_synchronise(CUstream stream, CUevent event)
{
    (void)event;
    say(" synchronise %.0f ms,", MS(cuStreamSynchronize(stream)));
}

static void tell_recorded(CUstream stream, CUevent event)
{
    TRY(cuEventRecord(event, stream));
    say(" event recorded there %d,", (int)cuEventQuery(event));
}

static void tell_copied(CUstream stream, CUevent event)
{
    TRY(cuMemcpyHtoDAsync(waits_device, waits_pinned, BLOCK_BYTES, stream));
    TRY(cuEventRecord(event, stream));
    usleep(20000);
    say(" event behind a copy %d, query %d,", (int)cuEventQuery(event), (int)cuStreamQuery(stream));
}

static void tell_waited_by_another(CUstream stream, CUevent event)
{
    CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
    TRY(cuEventRecord(event, stream));
    TRY(cuStreamWaitEvent(other, event, 0));
    TRY(cuMemcpyHtoDAsync(waits_device, waits_pinned, BLOCK_BYTES, other));
    usleep(20000);
    say(" copy behind that event %d,", (int)cuStreamQuery(other));
    TRY(cuStreamSynchronize(other));
    TRY(cuStreamDestroy(other));
}

/* Of another context as well, and done 60 ms before what is waited for. */
static CUevent early_event;

/* A stream's wait for an event that is complete, or for one that is not, comes next. */
static void tell_wait_for_done(CUstream stream, CUevent event)
{
    (void)event;
    TRY(cuEventSynchronize(early_event));
    TRY(cuStreamWaitEvent(stream, early_event, 0));
    say(" behind a wait for what is done query %d,", (int)cuStreamQuery(stream));
}

static void tell_wait_for_work(CUstream stream, CUevent event)
{
    (void)event;
    TRY(cuStreamWaitEvent(stream, early_event, 0));
    say(" behind a wait for 20 ms synchronise %.0f ms,", MS(cuStreamSynchronize(stream)));
}

static void tell_context_event(CUstream stream, CUevent event)
{
    (void)stream;
    TRY(cuCtxRecordEvent(primary, event));
    say(" context's event %d,", (int)cuEventQuery(event));
}

static void tell_green_event(CUstream stream, CUevent event)
{
    (void)stream;
    TRY(cuGreenCtxRecordEvent(waiting_green, event));
    say(" green one's event %d,", (int)cuEventQuery(event));
}

static void tell_context_synchronise(CUstream stream, CUevent event)
{
    (void)stream;
    (void)event;
    say(" cuCtxSynchronize %.0f ms,", MS(cuCtxSynchronize()));
}

static void tell_green_synchronise(CUstream stream, CUevent event)
{
    CUcontext context = NULL;
    (void)stream;
    (void)event;
    TRY(cuCtxFromGreenCtx(&context, waiting_green));
    TRY(cuCtxPushCurrent(context));
    say(" green one's %.0f ms", MS(cuCtxSynchronize()));
    TRY(cuCtxPopCurrent(&context));
}

static void (*const tells[])(CUstream, CUevent) = {
    tell_query,
    tell_synchronise,
    tell_recorded,
    tell_copied,
    tell_waited_by_another,
    tell_wait_for_done,
    tell_wait_for_work,
    tell_context_event,
    tell_green_event,
    tell_context_synchronise,
    tell_green_synchronise,
};

static void ask_wait(size_t number, CUstream early, CUstream busy, CUevent busy_event,
                     CUevent event)
{
    say("waits %s:", waits[number].name);
    for (size_t i = 0; i < COUNT(tells); i++) {
        bool own = waits[number].stream != legacy_stream && waits[number].stream != thread_stream;
        CUstream stream = waits[number].later ? NULL : waits[number].stream();
        TRY(cuLaunchHostFunc(early, sleeper, (void *)(uintptr_t)20));
        TRY(cuEventRecord(early_event, early));
        TRY(cuLaunchHostFunc(busy, sleeper, (void *)(uintptr_t)60));
        TRY(cuEventRecord(busy_event, busy));
        TRY(waits[number].wait(stream, busy_event));
        if (waits[number].later)
            stream = waits[number].stream();
        tells[i](stream, event);
        TRY(cuStreamSynchronize(busy));
        TRY(cuCtxSynchronize());
        if (own)
            TRY(cuStreamDestroy(stream));
    }
    end_line();
}

static void ask_waits_for(CUcontext busy_one)
{
    TRY(cuCtxSetCurrent(busy_one));
    CUstream busy = new_stream(CU_STREAM_NON_BLOCKING);
    CUstream early = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent busy_event = new_event();
    early_event = new_event();
    TRY(cuCtxSetCurrent(primary));
    CUevent event = new_event();
    TRY(make_green_context(&waiting_green));
    waits_device = device_block();
    waits_pinned = pinned_block();
    for (size_t i = 0; i < COUNT(waits); i++)
        ask_wait(i, early, busy, busy_event, event);
}

static void ask_waits(void)
{
    CUcontext another = NULL;
    TRY(cuCtxCreate(&another, NULL, 0, device));
    ask_waits_for(another);
}

/* With two contexts at work, the GPU may also do one's work before the other's. */
static void ask_waits_within(void)
{
    ask_waits_for(primary);
}

/* ---- what makes a stream join what its context waits for, and which frees wait for that ---- */

static CUresult copy_nothing(CUstream stream)
{
    return cuMemcpyHtoDAsync(waits_device, waits_pinned, 0, stream);
}

static CUresult set_nothing(CUstream stream)
{
    return cuMemsetD8Async(waits_device, 0, 0, stream);
}

static CUresult set_bytes(CUstream stream)
{
    return cuMemsetD8Async(waits_device, 0, BLOCK_BYTES, stream);
}

static CUresult fail_to_set(CUstream stream)
{
    return cuMemsetD8Async(0x1234000, 0, BLOCK_BYTES, stream);
}

static CUresult launch_function(CUstream stream)
{
    return cuLaunchHostFunc(stream, nothing, NULL);
}

static CUdeviceptr pool_block;

static CUresult allocate_in(CUstream stream)
{
    return cuMemAllocAsync(&pool_block, BLOCK_BYTES, stream);
}

static CUresult free_in(CUstream stream)
{
    return cuMemFreeAsync(pool_block, stream);
}

static CUgraphExec memset_exec(bool enabled)
{
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = waits_device, .elementSize = 1, .width = BLOCK_BYTES, .height = 1};
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    TRY(cuGraphCreate(&graph, 0));
    TRY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, primary));
    TRY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    TRY(cuGraphNodeSetEnabled(exec, node, enabled));
    return exec;
}

static CUresult upload_in(CUstream stream)
{
    return cuGraphUpload(memset_exec(true), stream);
}

static CUresult write_value(CUstream stream)
{
    return cuStreamWriteValue32(stream, waits_device, 1, 0);
}

static CUresult free_a_block(CUstream stream)
{
    (void)stream;
    return cuMemFree(device_block());
}

static CUresult free_a_host_block(CUstream stream)
{
    (void)stream;
    return cuMemFreeHost(pinned_block());
}

static CUresult unregister_a_block(CUstream stream)
{
    static unsigned char block[BLOCK_BYTES];
    (void)stream;
    TRY(cuMemHostRegister(block, BLOCK_BYTES, 0));
    return cuMemHostUnregister(block);
}

static const struct {
    const char *name;
    CUresult (*call)(CUstream);
} joins[] = {
    {"a copy of nothing", copy_nothing},
    {"a memset of nothing", set_nothing},
    {"a memset", set_bytes},
    {"a memset that fails", fail_to_set},
    {"a host function", launch_function},
    {"cuMemAllocAsync", allocate_in},
    {"cuMemFreeAsync", free_in},
    {"cuGraphUpload", upload_in},
    {"cuStreamWriteValue32", write_value},
    {"cuMemFree", free_a_block},
    {"cuMemFreeHost", free_a_host_block},
    {"cuMemHostUnregister", unregister_a_block},
};

static void tell_join(size_t number, CUstream stream)
{
    uint64_t begin_ns = now_ns();
    CUresult result = joins[number].call(stream);
    double took_ms = ms_since(begin_ns);
    sleep_ms(10);
    say(" %s: %d, %.0f ms; a query 10 ms later says %d\n", joins[number].name, (int)result, took_ms,
        (int)cuStreamQuery(stream));
}

static void ask_joins(void)
{
    CUcontext another = NULL;
    TRY(cuCtxCreate(&another, NULL, 0, device));
    CUstream busy = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event();
    TRY(cuCtxSetCurrent(primary));
    waits_device = device_block();
    waits_pinned = pinned_block();
    for (size_t i = 0; i < COUNT(joins); i++) {
        CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
        TRY(cuLaunchHostFunc(busy, sleeper, (void *)(uintptr_t)60));
        TRY(cuEventRecord(event, busy));
        TRY(cuCtxWaitEvent(primary, event));
        say("joins what its context waits for:");
        tell_join(i, stream);
        TRY(cuStreamSynchronize(busy));
        TRY(cuCtxSynchronize());
        TRY(cuStreamDestroy(stream));
    }
}

/* The same for a blocking stream behind work of the legacy one. */
static void ask_joins_legacy(void)
{
    waits_device = device_block();
    waits_pinned = pinned_block();
    for (size_t i = 0; i < COUNT(joins); i++) {
        CUstream stream = new_stream(CU_STREAM_DEFAULT);
        TRY(cuLaunchHostFunc(LEGACY, sleeper, (void *)(uintptr_t)60));
        say("joins the legacy stream:");
        tell_join(i, stream);
        TRY(cuCtxSynchronize());
        TRY(cuStreamDestroy(stream));
    }
}

/* ---- what events of contexts stand for, and how they are waited for ---- */

static CUfunction spin_kernel;
static CUgreenCtx busy_green, idle_green;

static CUresult record_in_stream(CUevent event, CUstream stream)
{
    return cuEventRecord(event, stream);
}

static CUresult record_in_primary(CUevent event, CUstream stream)
{
    (void)stream;
    return cuCtxRecordEvent(primary, event);
}

static CUresult record_in_green(CUevent event, CUstream stream)
{
    (void)stream;
    return cuGreenCtxRecordEvent(busy_green, event);
}

static const struct {
    const char *name;
    CUresult (*record)(CUevent, CUstream);
} records[] = {
    {"cuEventRecord", record_in_stream},
    {"cuCtxRecordEvent", record_in_primary},
    {"cuGreenCtxRecordEvent", record_in_green},
};

static void host_waits(CUevent event, CUstream stream)
{
    (void)stream;
    TRY(cuEventSynchronize(event));
}

static void stream_waits(CUevent event, CUstream stream)
{
    TRY(cuStreamWaitEvent(stream, event, 0));
    TRY(cuStreamSynchronize(stream));
}

static void event_waits(CUevent event, CUstream stream)
{
    CUevent behind = new_event();
    TRY(cuGreenCtxWaitEvent(idle_green, event));
    TRY(cuEventRecord(behind, stream));
    TRY(cuEventSynchronize(behind));
}

static void stream_waits_behind_event(CUevent event, CUstream stream)
{
    TRY(cuGreenCtxWaitEvent(idle_green, event));
    TRY(cuEventRecord(new_event(), stream));
    TRY(cuStreamSynchronize(stream));
}

static void stream_waits_behind_copy(CUevent event, CUstream stream)
{
    TRY(cuGreenCtxWaitEvent(idle_green, event));
    TRY(cuMemcpyHtoDAsync(waits_device, waits_pinned, BLOCK_BYTES, stream));
    TRY(cuStreamSynchronize(stream));
}

static void primary_waits_behind_event(CUevent event, CUstream stream)
{
    CUstream own = new_stream(CU_STREAM_NON_BLOCKING);
    (void)stream;
    TRY(cuCtxWaitEvent(primary, event));
    TRY(cuEventRecord(new_event(), own));
    TRY(cuStreamSynchronize(own));
}

static void blocking_waits_behind_event(CUevent event, CUstream stream)
{
    CUstream own = new_stream(CU_STREAM_DEFAULT);
    (void)stream;
    TRY(cuCtxWaitEvent(primary, event));
    TRY(cuEventRecord(new_event(), own));
    TRY(cuStreamSynchronize(own));
}

static void legacy_waits_behind_event(CUevent event, CUstream stream)
{
    (void)stream;
    TRY(cuCtxWaitEvent(primary, event));
    TRY(cuEventRecord(new_event(), LEGACY));
    TRY(cuStreamSynchronize(LEGACY));
}

static const struct {
    const char *name;
    void (*wait)(CUevent, CUstream);
} event_waiters[] = {
    {"the host", host_waits},
    {"a stream", stream_waits},
    {"a green context, then an event there", event_waits},
    {"a green context, then its stream behind an event", stream_waits_behind_event},
    {"a green context, then its stream behind a copy", stream_waits_behind_copy},
    {"the primary context, then a stream behind an event", primary_waits_behind_event},
    {"the primary context, then a blocking stream behind an event", blocking_waits_behind_event},
    {"the primary context, then the legacy stream behind an event", legacy_waits_behind_event},
};

/* Work of 20 and 40 ms in a stream of the one green context, waited for in the other. */
static void ask_events(void)
{
    CUmodule module = NULL;
    CUstream stream = NULL, idle = NULL;
    CUevent event = new_event();
    TRY(make_green_context(&busy_green));
    TRY(make_green_context(&idle_green));
    TRY(cuGreenCtxStreamCreate(&stream, busy_green, CU_STREAM_NON_BLOCKING, 0));
    TRY(cuGreenCtxStreamCreate(&idle, idle_green, CU_STREAM_NON_BLOCKING, 0));
    spin_kernel = load_kernel("spin", &module);
    waits_device = device_block();
    waits_pinned = pinned_block();
    for (size_t i = 0; i < COUNT(records); i++) {
        for (size_t j = 0; j < COUNT(event_waiters); j++) {
            TRY(cuLaunchHostFunc(stream, sleeper, (void *)(uintptr_t)20));
            launch_spin(spin_kernel, stream, 40);
            TRY(records[i].record(event, stream));
            uint64_t begin_ns = now_ns();
            event_waiters[j].wait(event, idle);
            say("events, %s, waited for by %s: %.0f ms\n", records[i].name, event_waiters[j].name,
                ms_since(begin_ns));
            TRY(cuCtxSynchronize());
        }
    }
}

/* ---- which bytes a copy takes that is held up ---- */

enum { OLD_BYTE = 1, NEW_BYTE = 2, FILL_MS = 40 };

static size_t copied_bytes;

static void CUDA_CB fill_late(void *source)
{
    sleep_ms(FILL_MS);
    memset(source, NEW_BYTE, copied_bytes);
}

static void behind_nothing(CUstream stream)
{
    (void)stream;
}

static void behind_synchronise(CUstream stream)
{
    TRY(cuStreamSynchronize(stream));
}

static void behind_memset(CUstream stream)
{
    TRY(set_bytes(stream));
}

static void behind_function(CUstream stream)
{
    TRY(launch_function(stream));
}

static void behind_wait_for_done(CUstream stream)
{
    TRY(cuStreamWaitEvent(stream, early_event, 0));
}

static void behind_record(CUstream stream)
{
    TRY(cuEventRecord(early_event, stream));
}

static void behind_context_synchronise(CUstream stream)
{
    (void)stream;
    TRY(cuCtxSynchronize());
}

static CUresult wait_of_nobody(CUstream stream, CUevent event)
{
    (void)stream;
    (void)event;
    return CUDA_SUCCESS;
}

static const struct held_up {
    const char *name;
    CUresult (*wait)(CUstream, CUevent);
    CUstream (*filling)(void);
    CUstream (*stream)(void);
    void (*before)(CUstream);
} held_ups[] = {
    {"a stream's wait", wait_of_stream, own_stream, own_stream, behind_nothing},
    {"a stream's wait, a synchronise", wait_of_stream, own_stream, own_stream, behind_synchronise},
    {"the legacy stream", wait_of_nobody, legacy_stream, blocking_stream, behind_nothing},
    {"a blocking stream", wait_of_nobody, blocking_stream, legacy_stream, behind_nothing},
    {"the context's wait", wait_of_context, own_stream, own_stream, behind_nothing},
    {"the context's, blocking", wait_of_context, own_stream, blocking_stream, behind_nothing},
    {"the context's, legacy", wait_of_context, own_stream, legacy_stream, behind_nothing},
    {"the context's, a synchronise", wait_of_context, own_stream, own_stream, behind_synchronise},
    {"the context's, a memset", wait_of_context, own_stream, own_stream, behind_memset},
    {"the context's, a function", wait_of_context, own_stream, own_stream, behind_function},
    {"the context's, a wait", wait_of_context, own_stream, own_stream, behind_wait_for_done},
    {"the context's, a record", wait_of_context, own_stream, own_stream, behind_record},
    {"the context's, its synchronise", wait_of_context, own_stream, own_stream,
     behind_context_synchronise},
    {"the green one's wait", wait_of_green, own_stream, green_stream, behind_nothing},
    {"the green one's, a memset", wait_of_green, own_stream, green_stream, behind_memset},
};

enum { TO_DEVICE, TO_MAPPED, FROM_DEVICE, WITHIN_DEVICE, WAYS };
static const char *const way_names[] = {"to device", "to mapped", "from device", "within it"};

/* A place that the CPU can read, and whose bytes may change late. */
struct held_memory {
    void *source, *mapped;
    CUdeviceptr device, target;
};

static CUresult copy_held(int way, const struct held_memory *memory, CUstream stream)
{
    switch (way) {
    case TO_DEVICE:
        return cuMemcpyHtoDAsync(memory->target, memory->source, copied_bytes, stream);
    case TO_MAPPED:
        return cuMemcpyAsync(uva(memory->mapped), uva(memory->source), copied_bytes, stream);
    case FROM_DEVICE:
        return cuMemcpyDtoHAsync(memory->mapped, memory->device, copied_bytes, stream);
    default:
        return cuMemcpyDtoDAsync(memory->target, memory->device, copied_bytes, stream);
    }
}

/* Of the source, or of the device block that is its copy, once 40 ms are over. */
static void fill_source(int way, const struct held_memory *memory, CUstream filling)
{
    TRY(cuLaunchHostFunc(filling, fill_late, memory->source));
    if (way == FROM_DEVICE || way == WITHIN_DEVICE)
        TRY(cuMemsetD8Async(memory->device, NEW_BYTE, copied_bytes, filling));
}

static int byte_that_arrived(int way, const struct held_memory *memory)
{
    unsigned char byte = 0;
    if (way == TO_MAPPED || way == FROM_DEVICE)
        return ((volatile unsigned char *)memory->mapped)[copied_bytes - 1];
    TRY(cuMemcpyDtoH(&byte, memory->target + copied_bytes - 1, 1));
    return byte;
}

static void tell_held(const struct held_up *held, int way, const struct held_memory *memory)
{
    CUstream stream = held->stream();
    CUstream filling = held->filling();
    CUevent filled = new_event();
    early_event = new_event();
    TRY(cuEventRecord(early_event, stream));
    memset(memory->source, OLD_BYTE, BLOCK_BYTES);
    memset(memory->mapped, 0, BLOCK_BYTES);
    TRY(cuMemsetD8(memory->device, OLD_BYTE, BLOCK_BYTES));
    TRY(cuMemsetD8(memory->target, 0, BLOCK_BYTES));
    settle();
    fill_source(way, memory, filling);
    TRY(cuEventRecord(filled, filling));
    TRY(held->wait(stream, filled));
    held->before(stream);
    double issue_ms = MS(copy_held(way, memory, stream));
    sleep_ms(5);
    bool early = (way == TO_MAPPED || way == FROM_DEVICE) && byte_that_arrived(way, memory) != 0;
    double wait_ms = MS(cuStreamSynchronize(stream));
    say(" %s %s%s, %.0f + %.0f ms;", way_names[way],
        byte_that_arrived(way, memory) == NEW_BYTE ? "new" : "OLD", early ? " early" : "", issue_ms,
        wait_ms);
    settle();
    TRY(cuEventDestroy(filled));
    TRY(cuEventDestroy(early_event));
    if (held->stream != legacy_stream)
        TRY(cuStreamDestroy(stream));
    if (held->filling != legacy_stream)
        TRY(cuStreamDestroy(filling));
}

static void ask_bytes_of(size_t bytes)
{
    struct held_memory memory = {pinned_block(), pinned_block(), device_block(), device_block()};
    copied_bytes = bytes;
    waits_device = device_block();
    TRY(make_green_context(&waiting_green));
    for (size_t i = 0; i < COUNT(held_ups); i++) {
        say("%s behind %s:", size_text(bytes), held_ups[i].name);
        for (int way = 0; way < WAYS; way++)
            tell_held(&held_ups[i], way, &memory);
        end_line();
    }
}

static void ask_bytes(void)
{
    ask_bytes_of(4 * KB);
    ask_bytes_of(32 * KB);
}

/* Around the size that the answers change at. */
static void ask_byte_sizes(void)
{
    static const size_t sizes[] = {4, 16 * KB, 24 * KB, 24 * KB + 4, 28 * KB, 32 * KB - 4};
    static const struct held_up held = {"", wait_of_context, own_stream, own_stream,
                                        behind_nothing};
    struct held_memory memory = {pinned_block(), pinned_block(), device_block(), device_block()};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        copied_bytes = sizes[i];
        say("a copy of %s:", size_text(copied_bytes));
        tell_held(&held, TO_DEVICE, &memory);
        end_line();
    }
}

/* ---- which calls take their bytes early, whoever fills them, and what keeps them from it ---- */

static CUmodule spin_module;
static CUdeviceptr new_bytes;

static void fill_by_function(CUstream filling, void *source)
{
    TRY(cuLaunchHostFunc(filling, fill_late, source));
}

static void fill_by_copy(CUstream filling, void *source)
{
    launch_spin(spin_kernel, filling, FILL_MS);
    TRY(cuMemcpyDtoHAsync(source, new_bytes, copied_bytes, filling));
}

static void fill_by_memset(CUstream filling, void *source)
{
    launch_spin(spin_kernel, filling, FILL_MS);
    TRY(cuMemsetD8Async(uva(source), NEW_BYTE, copied_bytes, filling));
}

static const struct {
    const char *name;
    void (*fill)(CUstream filling, void *source);
} fills[] = {
    {"function", fill_by_function},
    {"copy", fill_by_copy},
    {"memset", fill_by_memset},
};

static CUevent filled_event;

static void wait_for_filling(CUstream stream)
{
    TRY(cuStreamWaitEvent(stream, filled_event, 0));
}

static void wait_for_legacy(CUstream stream)
{
    TRY(cuEventRecord(early_event, CU_STREAM_LEGACY));
    TRY(cuStreamWaitEvent(stream, early_event, 0));
}

static void wait_for_context(CUstream stream)
{
    TRY(cuCtxRecordEvent(primary, early_event));
    TRY(cuStreamWaitEvent(stream, early_event, 0));
}

static void wait_for_itself(CUstream stream)
{
    TRY(cuEventRecord(early_event, stream));
    TRY(cuStreamWaitEvent(stream, early_event, 0));
}

static const struct held_up remedies[] = {
    {"a stream's wait", wait_of_stream, own_stream, own_stream, behind_nothing},
    {"legacy to blocking", wait_of_nobody, legacy_stream, blocking_stream, behind_nothing},
    {"the same, a wait for the filling", wait_of_nobody, legacy_stream, blocking_stream,
     wait_for_filling},
    {"the same, a wait for legacy", wait_of_nobody, legacy_stream, blocking_stream,
     wait_for_legacy},
    {"the same, a wait for itself", wait_of_nobody, legacy_stream, blocking_stream,
     wait_for_itself},
    {"the same, a function", wait_of_nobody, legacy_stream, blocking_stream, behind_function},
    {"blocking to legacy", wait_of_nobody, blocking_stream, legacy_stream, behind_nothing},
    {"the same, a wait for the filling", wait_of_nobody, blocking_stream, legacy_stream,
     wait_for_filling},
    {"the same, a wait for itself", wait_of_nobody, blocking_stream, legacy_stream,
     wait_for_itself},
    {"context", wait_of_context, own_stream, own_stream, behind_nothing},
    {"the same, a wait for the filling", wait_of_context, own_stream, own_stream, wait_for_filling},
    {"the same, a wait for the context", wait_of_context, own_stream, own_stream, wait_for_context},
    {"the same, a wait for itself", wait_of_context, own_stream, own_stream, wait_for_itself},
};

static CUresult copy_1d(CUdeviceptr target, void *source, CUstream stream)
{
    return cuMemcpyHtoDAsync(target, source, copied_bytes, stream);
}

static CUresult copy_any(CUdeviceptr target, void *source, CUstream stream)
{
    return cuMemcpyAsync(target, uva(source), copied_bytes, stream);
}

static CUresult copy_2d(CUdeviceptr target, void *source, CUstream stream)
{
    CUDA_MEMCPY2D shape = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = source,
                           .srcPitch = 128,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = target,
                           .dstPitch = 128,
                           .WidthInBytes = 64,
                           .Height = copied_bytes / 128};
    return cuMemcpy2DAsync(&shape, stream);
}

static CUresult copy_batch(CUdeviceptr target, void *source, CUstream stream)
{
    CUdeviceptr from = uva(source);
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    size_t first = 0;
    if (stream == CU_STREAM_LEGACY)
        return CUDA_ERROR_INVALID_VALUE;
    return cuMemcpyBatchAsync(&target, &from, &copied_bytes, 1, &attributes, &first, 1, stream);
}

static CUresult copy_sync(CUdeviceptr target, void *source, CUstream stream)
{
    (void)stream;
    return cuMemcpyHtoD(target, source, copied_bytes);
}

static CUgraphExec copying_exec;

static CUresult copy_by_graph(CUdeviceptr target, void *source, CUstream stream)
{
    (void)target;
    (void)source;
    return cuGraphLaunch(copying_exec, stream);
}

static const struct {
    const char *name;
    CUresult (*copy)(CUdeviceptr target, void *source, CUstream stream);
} copies[] = {
    {"HtoDAsync", copy_1d}, {"cuMemcpyAsync", copy_any}, {"2D", copy_2d},
    {"batch", copy_batch},  {"HtoD", copy_sync},         {"graph", copy_by_graph},
};

static void make_copying_exec(CUdeviceptr target, void *source)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUgraph graph = NULL;
    TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    TRY(cuMemcpyHtoDAsync(target, source, copied_bytes, stream));
    TRY(cuStreamEndCapture(stream, &graph));
    TRY(cuGraphInstantiate(&copying_exec, graph, 0));
    TRY(cuGraphLaunch(copying_exec, stream));
    settle();
    TRY(cuStreamDestroy(stream));
}

static void tell_bytes(const struct held_up *held, size_t fill, size_t copy, CUdeviceptr target,
                       void *source)
{
    CUstream stream = held->stream();
    CUstream filling = held->filling();
    unsigned char byte = 0;
    filled_event = new_event();
    early_event = new_event();
    memset(source, OLD_BYTE, BLOCK_BYTES);
    TRY(cuMemsetD8(target, 0, BLOCK_BYTES));
    TRY(cuMemcpyHtoDAsync(waits_device, source, copied_bytes, stream)); /* used before */
    settle();
    fills[fill].fill(filling, source);
    TRY(cuEventRecord(filled_event, filling));
    TRY(held->wait(stream, filled_event));
    held->before(stream);
    CUresult result = copies[copy].copy(target, source, stream);
    settle();
    TRY(cuMemcpyDtoH(&byte, target, 1));
    say(" %s %s", copies[copy].name,
        result != CUDA_SUCCESS ? "-"
        : byte == NEW_BYTE     ? "new"
        : byte == OLD_BYTE     ? "OLD"
                               : "??");
    TRY(cuEventDestroy(filled_event));
    TRY(cuEventDestroy(early_event));
    if (held->stream != legacy_stream)
        TRY(cuStreamDestroy(stream));
    if (held->filling != legacy_stream)
        TRY(cuStreamDestroy(filling));
}

static void ask_remedies(void)
{
    CUdeviceptr target = device_block();
    void *source = pinned_block();
    copied_bytes = 4 * KB;
    waits_device = device_block();
    new_bytes = device_block();
    TRY(cuMemsetD8(new_bytes, NEW_BYTE, BLOCK_BYTES));
    spin_kernel = load_kernel("spin", &spin_module);
    make_copying_exec(target, source);
    for (size_t i = 0; i < COUNT(remedies); i++) {
        for (size_t fill = 0; fill < COUNT(fills); fill++) {
            say("%s, filled by a %s:", remedies[i].name, fills[fill].name);
            for (size_t copy = 0; copy < COUNT(copies); copy++)
                tell_bytes(&remedies[i], fill, copy, target, source);
            end_line();
        }
    }
}

/* ---- what orders a copy behind the legacy stream ---- */

static void begin_filling(CUstream filling, const struct held_memory *memory)
{
    memset(memory->source, OLD_BYTE, BLOCK_BYTES);
    TRY(cuMemsetD8(memory->target, 0, BLOCK_BYTES));
    settle();
    TRY(cuLaunchHostFunc(filling, fill_late, memory->source));
}

/* When all is done. */
static const char *what_is_at(CUdeviceptr address)
{
    unsigned char byte = 0;
    settle();
    TRY(cuMemcpyDtoH(&byte, address, 1));
    return byte == NEW_BYTE ? "new" : "OLD";
}

static CUstream third; /* a blocking stream */

static void behind_legacy_record(CUstream stream)
{
    (void)stream;
    TRY(cuEventRecord(early_event, CU_STREAM_LEGACY));
}

static void behind_legacy_record_and_itself(CUstream stream)
{
    behind_legacy_record(stream);
    wait_for_itself(stream);
}

static void behind_legacy_memset(CUstream stream)
{
    (void)stream;
    TRY(set_bytes(CU_STREAM_LEGACY));
}

static void behind_begin(CUstream stream)
{
    (void)stream;
    TRY(cuStreamBeginCapture(third, CU_STREAM_CAPTURE_MODE_RELAXED));
}

static void behind_begin_and_itself(CUstream stream)
{
    behind_begin(stream);
    wait_for_itself(stream);
}

static void behind_empty_copy(CUstream stream)
{
    TRY(copy_nothing(stream));
}

static void behind_empty_copy_and_itself(CUstream stream)
{
    TRY(copy_nothing(stream));
    wait_for_itself(stream);
}

static void behind_failure_and_itself(CUstream stream)
{
    (void)fail_to_set(stream);
    wait_for_itself(stream);
}

static const struct held_up relations[] = {
    {"B fills, L records", wait_of_nobody, blocking_stream, blocking_stream, behind_legacy_record},
    {"B fills, L records, own wait", wait_of_nobody, blocking_stream, blocking_stream,
     behind_legacy_record_and_itself},
    {"B fills, L works", wait_of_nobody, blocking_stream, blocking_stream, behind_legacy_memset},
    {"L fills, a capture begins", wait_of_nobody, legacy_stream, blocking_stream, behind_begin},
    {"L fills, a capture begins, own wait", wait_of_nobody, legacy_stream, blocking_stream,
     behind_begin_and_itself},
    {"L fills, nothing copied", wait_of_nobody, legacy_stream, blocking_stream, behind_empty_copy},
    {"L fills, nothing copied, own wait", wait_of_nobody, legacy_stream, blocking_stream,
     behind_empty_copy_and_itself},
    {"L fills, a failure, own wait", wait_of_nobody, legacy_stream, blocking_stream,
     behind_failure_and_itself},
};

static void end_capture_of_third(void)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = NULL;
    TRY(cuStreamIsCapturing(third, &status));
    if (status == CU_STREAM_CAPTURE_STATUS_NONE)
        return;
    int ended = (int)cuStreamEndCapture(third, &graph);
    if (ended)
        say(" (the capture ends with %d)", ended);
}

static void ask_relations(void)
{
    static const size_t sizes[] = {4 * KB, 64 * KB};
    struct held_memory memory = {pinned_block(), pinned_block(), device_block(), device_block()};
    waits_device = device_block();
    waits_pinned = pinned_block();
    third = blocking_stream();
    for (size_t i = 0; i < COUNT(relations); i++) {
        say("%s:", relations[i].name);
        for (size_t s = 0; s < COUNT(sizes); s++) {
            const struct held_up *held = &relations[i];
            CUstream stream = held->stream(), filling = held->filling();
            copied_bytes = sizes[s];
            early_event = new_event();
            begin_filling(filling, &memory);
            held->before(stream);
            TRY(cuMemcpyHtoDAsync(memory.target, memory.source, copied_bytes, stream));
            double wait_ms = MS(cuStreamSynchronize(stream));
            end_capture_of_third();
            say(" %s %s, waits %.0f ms;", size_text(copied_bytes),
                what_is_at(memory.target + copied_bytes - 1), wait_ms);
            TRY(cuEventDestroy(early_event));
            TRY(cuStreamDestroy(stream));
            if (held->filling != legacy_stream)
                TRY(cuStreamDestroy(filling));
        }
        end_line();
    }
}

/* ---- what is in a stream's own queue ---- */

static CUgraphExec empty_exec;
static CUdeviceptr managed_block;

static void make_queued(void)
{
    CUgraph graph = NULL;
    TRY(cuGraphCreate(&graph, 0));
    TRY(cuGraphInstantiateWithFlags(&empty_exec, graph, 0));
    TRY(cuMemAllocManaged(&managed_block, BLOCK_BYTES, CU_MEM_ATTACH_GLOBAL));
    TRY(allocate_in(CU_STREAM_LEGACY)); /* for the free, which comes first */
    waits_device = device_block();
    waits_pinned = pinned_block();
}

static CUresult do_nothing(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

static CUresult launch_nothing(CUstream stream)
{
    return cuGraphLaunch(empty_exec, stream);
}

static CUresult attach(CUstream stream)
{
    return cuStreamAttachMemAsync(stream, managed_block, 0, CU_MEM_ATTACH_GLOBAL);
}

static CUresult prefetch(CUstream stream)
{
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
    return cuMemPrefetchAsync(managed_block, BLOCK_BYTES, here, 0, stream);
}

static CUresult record_event(CUstream stream)
{
    return cuEventRecord(early_event, stream);
}

static const struct {
    const char *name;
    CUresult (*call)(CUstream);
} queued[] = {
    {"nothing", do_nothing},
    {"a copy of nothing", copy_nothing},
    {"a memset that fails", fail_to_set},
    {"an event's record", record_event},
    {"cuMemFreeAsync", free_in},
    {"cuMemAllocAsync", allocate_in},
    {"an empty graph", launch_nothing},
    {"cuGraphUpload", upload_in},
    {"cuStreamAttachMemAsync", attach},
    {"cuMemPrefetchAsync", prefetch},
    {"cuStreamWriteValue32", write_value},
    {"a host function", launch_function},
    {"a memset", set_bytes},
};

static CUresult copy_sync_per_thread(CUdeviceptr target, void *source, CUstream stream)
{
    CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr, const void *, size_t);
    (void)stream;
    return cuMemcpyHtoD_v2_ptds(target, source, copied_bytes);
}

/* A copy behind the legacy stream's work takes the new bytes if the call before it is queued. */
static void tell_queued(CUresult (*call)(CUstream), const struct held_memory *memory,
                        CUresult (*copy)(CUdeviceptr, void *, CUstream))
{
    CUstream stream = blocking_stream();
    early_event = new_event();
    begin_filling(CU_STREAM_LEGACY, memory);
    double call_ms = MS(call(stream));
    double copy_ms = MS(copy(memory->target, memory->source, stream));
    say(" %s, call %.0f ms, copy %.0f ms", what_is_at(memory->target), call_ms, copy_ms);
    TRY(cuEventDestroy(early_event));
    TRY(cuStreamDestroy(stream));
}

/* Launches of one exec are in order, whatever streams they are in: is the second queued? */
static void tell_launched_elsewhere(CUgraphExec exec, const struct held_memory *memory)
{
    CUstream first = new_stream(CU_STREAM_NON_BLOCKING);
    CUstream second = new_stream(CU_STREAM_NON_BLOCKING);
    begin_filling(first, memory);
    TRY(cuGraphLaunch(exec, first));
    TRY(cuGraphLaunch(exec, second));
    TRY(cuMemcpyHtoDAsync(memory->target, memory->source, copied_bytes, second));
    double wait_ms = MS(cuStreamSynchronize(second));
    say(" %s, waits %.0f ms;", what_is_at(memory->target), wait_ms);
    TRY(cuStreamDestroy(first));
    TRY(cuStreamDestroy(second));
}

static void ask_queued(void)
{
    struct held_memory memory = {pinned_block(), pinned_block(), device_block(), device_block()};
    copied_bytes = 4 * KB;
    make_queued();
    say("a launch behind one elsewhere, of an empty graph and of one that is disabled:");
    tell_launched_elsewhere(empty_exec, &memory);
    tell_launched_elsewhere(memset_exec(false), &memory);
    end_line();
    for (size_t i = 0; i < COUNT(queued); i++) {
        say("%s:", queued[i].name);
        tell_queued(queued[i].call, &memory, copy_1d);
        end_line();
    }
    say("cuMemcpyHtoD_v2_ptds:");
    tell_queued(do_nothing, &memory, copy_sync_per_thread);
    end_line();
}

/* ---- green contexts that hold their primary one ---- */

static int primary_is_active(void)
{
    unsigned flags = 0;
    int active = -1;
    TRY(cuDevicePrimaryCtxGetState(device, &flags, &active));
    return active;
}

static void ask_green_last(void)
{
    CUgreenCtx green = NULL;
    CUstream stream = NULL;
    TRY(make_green_context(&green));
    TRY(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    keep_busy(stream);
    TRY(cuDevicePrimaryCtxRelease(device));
    say(" behind the program's release the primary context's state is %d;", primary_is_active());
    say(" cuGreenCtxDestroy takes %.0f ms (its stream was busy for %d);",
        MS(cuGreenCtxDestroy(green)), BUSY_MS);
    say(" then the state is %d", primary_is_active());
}

static void ask_green_reset(void)
{
    CUgreenCtx green = NULL;
    CUstream stream = NULL;
    TRY(make_green_context(&green));
    TRY(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    keep_busy(stream);
    say(" cuDevicePrimaryCtxReset takes %.0f ms (a green stream was busy for %d);",
        MS(cuDevicePrimaryCtxReset(device)), BUSY_MS);
    say(" then the state is %d,", primary_is_active());
    say(" and a query of the green stream says %d", (int)cuStreamQuery(stream));
}

/* Does the CPU read them, and by the program's own mapping? */
static void ask_protected(void)
{
    CUdeviceptr target = device_block();
    unsigned char *pages = map_pages(BLOCK_BYTES);
    void *sources[] = {pinned_block(), pages};
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    TRY(cuMemHostRegister(pages, BLOCK_BYTES, 0));
    for (unsigned i = 0; i < COUNT(sources); i++) {
        if (!begin_part(i + 1))
            continue;
        unsigned char byte = 0;
        memset(sources[i], NEW_BYTE, BLOCK_BYTES);
        TRY(cuMemsetD8(target, 0, BLOCK_BYTES));
        settle();
        mprotect(sources[i], BLOCK_BYTES, PROT_NONE);
        say(" 4 KB out of a %s source without any access,", i ? "registered" : "pinned");
        TRY(cuMemcpyHtoDAsync(target, sources[i], 4 * KB, stream));
        settle();
        TRY(cuMemcpyDtoH(&byte, target, 1));
        say(" %s;", byte == NEW_BYTE ? "new" : "OLD");
        end_line();
    }
}

static const struct question questions[] = {
    {.name = "waits", .ask = ask_waits},
    {.name = "waits-within", .ask = ask_waits_within},
    {.name = "joins", .ask = ask_joins},
    {.name = "joins-legacy", .ask = ask_joins_legacy},
    {.name = "events", .ask = ask_events},
    {.name = "bytes", .ask = ask_bytes},
    {.name = "byte-sizes", .ask = ask_byte_sizes},
    {.name = "remedies", .ask = ask_remedies},
    {.name = "protected", .ask = ask_protected},
    {.name = "relations", .ask = ask_relations},
    {.name = "queued", .ask = ask_queued},
    {.name = "green-last", .ask = ask_green_last, .text = "a green context alone"},
    {.name = "green-reset", .ask = ask_green_reset, .text = "a reset"},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_contexts",
        .questions = questions,
        .count = COUNT(questions),
        .set_up = enter_primary,
        .question_s = 20,
    };

    return ask_all(&inquiry, argc, argv);
}

/* Wrappers of calls whose work uses no host memory that could be guarded, but orders operations
 * that do: kernels, allocations and frees in a stream's order, waits for values, and others. A
 * kernel on the legacy stream comes after every blocking stream. On other streams there is little
 * to do: recent copies get a mark (an event behind them), and the work is noted to be unfinished.
 */

/* Terms (docs/glossary.md):
 *   blocking stream: a stream without CU_STREAM_NON_BLOCKING
 *   detour: an operation of the legacy stream that the library issues on a private stream
 *   guard: page protection of the memory of operations in flight
 *   ledger: which memory the process has, and which call stack asked for it
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   not watched: of an operation: an early touch of it could not be seen
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   post-mortem: the report's line that says what was in flight when a context was lost
 *   wrapper: our function in the place of one of the driver's
 */

#include "common/op_kinds.h"
#include "common/points.h"
#include "common/ticks.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/recently.h"
#include "interpose/base/stack_cache.h"
#include "interpose/base/thread_stack.h"
#include "interpose/base/unwind.h"
#include "interpose/calls/beside_uses.h"
#include "interpose/calls/device_memory.h"
#include "interpose/calls/device_uses.h"
#include "interpose/calls/event_calls.h"
#include "interpose/calls/issue.h"
#include "interpose/calls/kernel_uses.h"
#include "interpose/calls/memory.h"
#include "interpose/calls/work.h"
#include "interpose/capture/beside.h"
#include "interpose/capture/detours.h"
#include "interpose/capture/permits.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/kernel_parameters.h"
#include "interpose/driver/replaying.h"
#include "interpose/driver/rows.h"
#include "interpose/driver/wrap.h"
#include "interpose/graph/memory_ops.h"
#include "interpose/ledger/booking.h"
#include "interpose/ledger/limits.h"
#include "interpose/ledger/memory_kinds.h"
#include "interpose/ledger/shortage.h"
#include "interpose/streams/capturing.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/simple_streams.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "ledger/ledger.h"
#include "ledger/ledger_words.h"
#include "track/allocations.h"
#include "track/history.h"
#include "track/stream_front.h"
#include "track/track_front.h"
#include "track/track_ops.h"

#include "common/poison.h"

/* One call that issues such work, from before the driver's call, with its detour: the private
 * stream on which the work is made if a capture stands in the way of the legacy stream. */
struct work {
    struct sc_detour detour;
    struct sc_work work;
};

/* Called before the driver's call: finds out whether the work needs a detour (`*stream` is then a
 * private stream), and notes what the work may do (`kind`, SC_WORK_*). */
static void begin_work(struct work *work, const struct sc_call *call, CUstream *stream,
                       unsigned kind)
{
    sc_detour_begin(&work->detour, call, stream);
    sc_work_begin(&work->work, call, *stream, kind);
}

/* May the work write device memory at places that no argument names? Then open captures have to
 * take it for a write anywhere (SC305). Kernels (SC_WORK_OF_DEVICE) do not count: the addresses
 * that they are given are noted. */
static bool may_write_anywhere(const struct work *work)
{
    unsigned kind = work->work.stream ? work->work.kind : SC_WORK_QUIET;
    return kind & (SC_WORK_MAY_WRITE | SC_WORK_SIGNALS) && !(kind & SC_WORK_OF_DEVICE);
}

/* Called when the driver has answered: notes the work once more (a wait of another thread may have
 * begun meanwhile), and ends its detour, if it was made on a private stream. Returns `result`. */
SC_INLINED CUresult end_work(struct work *work, CUresult result)
{
    if (sc_beside_needs_calls() && may_write_anywhere(work))
        sc_beside_note_unknown_write();
    return sc_detour_end(&work->detour, sc_work_end(&work->work, result));
}

/* ---- kernels ---- */

/* A kernel launch, from before the driver's call. */
struct launching {
    struct work work;
    struct sc_kernel_host host; /* the host memory of which the kernel is given addresses */
};

/* Called before a launch, with option kernels: judges what the kernel may do with memory of which
 * it is given addresses, and stores its host memory in `launching`. A captured kernel does nothing
 * now. */
static void judge_kernel(struct launching *launching, const struct sc_call *call,
                         const struct sc_launch *launch)
{
    SC_KEEP_ERRNO();
    struct sc_stream_record *stream =
        sc_active() ? sc_streams_find(launch->stream, call->per_thread) : NULL;
    launching->host.count = 0;
    if (stream && !sc_streams_is_capturing(stream))
        sc_kernel_uses_judge(call, stream,
                             &(struct sc_kernel_launch){.launch = launch, .is_judged = true},
                             &launching->host);
}

/* Called before the driver's call: begins a kernel launch as work of its stream. If a capture
 * stands in the way of the legacy stream, `launch->stream` becomes a private one (a detour). */
static void begin_launch(struct launching *launching, const struct sc_call *call,
                         struct sc_launch *launch)
{
    struct work *work = &launching->work;
    sc_detour_begin(&work->detour, call, &launch->stream);
    if (sc_kernel_uses_are_watched())
        judge_kernel(launching, call, launch);
    sc_work_begin(&work->work, call, launch->stream, SC_WORK_KERNEL);
}

/* Called when the driver has answered a kernel launch. Of an accepted one, records what the kernel
 * may do with memory (option kernels), asks whether it has fixed the size of the device's heap, and
 * notes it for open captures. Returns `result`. */
static CUresult end_launch(struct launching *launching, struct sc_launch *launch, CUresult result)
{
    struct work *work = &launching->work;
    const struct sc_call *call = work->detour.call;
    uint64_t place = sc_order_place(&work->work.ordered); /* the call has its place until it ends */
    result = end_work(work, result);
    launch->is_accepted = result == CUDA_SUCCESS;
    if (sc_kernel_uses_are_watched() && work->work.stream && launch->is_accepted)
        sc_kernel_uses_note(call, work->work.stream, &(struct sc_kernel_launch){.launch = launch},
                            &launching->host, place, NULL);
    if (sc_process_watches_launches() && work->work.stream && launch->is_accepted)
        sc_limits_launched(call, work->work.stream->context, launch->function);
    if (sc_beside_needs_calls() && launch->is_accepted)
        sc_beside_uses_note_launched(call, launch, sc_detour_is_taken(&work->detour));
    return result;
}

/* The quick way of cuLaunchKernel's wrapper: makes the call and returns true, if the launch has
 * merely to be noted as work of its stream. False: nothing was done, and the wrapper goes the
 * general way. */
SC_INLINED bool cuLaunchKernel_simply(enum sc_simplicity least, const char *api, void *site,
                                      bool per_thread, CUresult *result, CUfunction f, unsigned gx,
                                      unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                      unsigned bz, unsigned shared, CUstream handle,
                                      void **parameters, void **extra)
{
    struct sc_stream_record *stream =
        sc_work_begin_simple_launch(least | SC_LAUNCHES_UNWATCHED, handle, per_thread);
    if (sc_unlikely(!stream))
        return false;
    *result = sc_real.cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, handle, parameters, extra);
    sc_work_end_simple_launch(api, site, per_thread, stream, *result);
    return true;
}

/* The general way of a kernel launch, if the quick one (cuLaunchKernel_simply) has refused. */
SC_SIMPLE_PAIR(cuLaunchKernel, _ptsz,
               (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                unsigned bz, unsigned shared, CUstream stream, void **parameters, void **extra),
               (f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra))
{
    SC_SIMPLY_BUT_HEARD(cuLaunchKernel,
                        (f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra));
    struct launching launching;
    struct sc_launch launch = {stream, f, parameters, extra, false};
    begin_launch(&launching, call, &launch);
    CUresult result = real(f, gx, gy, gz, bx, by, bz, shared, launch.stream, parameters, extra);
    return end_launch(&launching, &launch, result);
}

/* Returns the event that the launch records because of the attribute, or NULL if there is none. */
static CUevent recorded_by(const CUlaunchAttribute *attribute)
{
    if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
        return attribute->value.programmaticEvent.event;
    if (attribute->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
        return attribute->value.launchCompletionEvent.event;
    return NULL;
}

/* Called behind an accepted launch: notes the events that the launch itself records because of its
 * attributes. They may occur while blocks of the launch still run, so they stand only for work
 * before the launch. */
static void note_events(const struct sc_call *call, const CUlaunchConfig *config)
{
    struct sc_stream_record *stream = NULL;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        CUevent event = recorded_by(&config->attrs[i]);
        if (event && !stream && sc_active())
            stream = sc_streams_find(config->hStream, call->per_thread);
        if (event && stream)
            sc_event_calls_note_recorded(stream, event);
    }
}

/* Does the launch itself record events, because of its attributes? Then it cannot go the quick way.
 * Few launches have attributes, and few of these are such ones. */
static bool records_events(const CUlaunchConfig *config)
{
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++)
        if (recorded_by(&config->attrs[i]))
            return true;
    return false;
}

/* The quick way of cuLaunchKernelEx's wrapper, for launches that record no event: makes the call
 * and returns true, or returns false, having done nothing. */
SC_INLINED bool cuLaunchKernelEx_simply(enum sc_simplicity least, const char *api, void *site,
                                        bool per_thread, CUresult *result,
                                        const CUlaunchConfig *config, CUfunction f,
                                        void **parameters, void **extra)
{
    struct sc_stream_record *stream =
        SC_HAVE(cuLaunchKernelEx) && config && !records_events(config)
            ? sc_work_begin_simple_launch(least | SC_LAUNCHES_UNWATCHED, config->hStream,
                                          per_thread)
            : NULL;
    if (sc_unlikely(!stream))
        return false;
    *result = sc_real.cuLaunchKernelEx(config, f, parameters, extra);
    sc_work_end_simple_launch(api, site, per_thread, stream, *result);
    return true;
}

/* The general way of a launch with attributes. For a detour (a private stream, since a capture
 * stands in the way of the legacy one) the driver gets a copy of `config` with that stream. */
SC_SIMPLE_PAIR(cuLaunchKernelEx, _ptsz,
               (const CUlaunchConfig *config, CUfunction f, void **parameters, void **extra),
               (config, f, parameters, extra))
{
    SC_SIMPLY_BUT_HEARD(cuLaunchKernelEx, (config, f, parameters, extra));
    struct launching launching;
    CUlaunchConfig moved;
    if (!config)
        return real(config, f, parameters, extra);
    struct sc_launch launch = {config->hStream, f, parameters, extra, false};
    begin_launch(&launching, call, &launch);
    if (sc_detour_is_taken(&launching.work.detour)) {
        moved = *config;
        moved.hStream = launch.stream;
        config = &moved;
    }
    CUresult result = end_launch(&launching, &launch, real(config, f, parameters, extra));
    if (sc_unlikely(config->numAttrs) && result == CUDA_SUCCESS)
        note_events(call, config);
    return result;
}

/* Wrapper of a cooperative launch, which is noted as any kernel. */
SC_PAIR(cuLaunchCooperativeKernel, _ptsz,
        (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
         unsigned shared, CUstream stream, void **parameters),
        (f, gx, gy, gz, bx, by, bz, shared, stream, parameters))
{
    struct launching launching;
    struct sc_launch launch = {stream, f, parameters, NULL, false};
    begin_launch(&launching, call, &launch);
    CUresult result = real(f, gx, gy, gz, bx, by, bz, shared, launch.stream, parameters);
    return end_launch(&launching, &launch, result);
}

/* ---- stream-ordered allocation: no capture permits it, except in the capturing stream ---- */

/* Would this allocation or free break a capture, although it does not belong to one? Then the
 * wrapper makes it under a permit (in the relaxed capture mode). No permit is needed on a private
 * stream (a detour), on a stream that itself captures, or while nothing has ever captured. */
static bool endangers_captures(struct work *work, CUstream stream)
{
    return sc_detour_leave_report_to_caller(&work->detour) && sc_capturing_seen() &&
           !sc_issue_is_captured(work->detour.call, stream);
}

/* Called before an allocation in a stream's order. To allocate is no work of the stream
 * (docs/driver.md, Green contexts), while to free is, so no work is noted. */
static void begin_allocation(struct work *work, const struct sc_call *call, CUstream *stream)
{
    sc_detour_begin(&work->detour, call, stream);
    work->work = (struct sc_work){0};
}

/* Returns the stream on which an allocation or a free is to be recorded as a use of device memory;
 * NULL: device memory is not watched, the library is inactive, or the stream captures. */
static struct sc_stream_record *watched_stream(const struct sc_call *call, CUstream handle)
{
    struct sc_stream_record *stream = sc_track_watches_device(&sc_track) && sc_active()
                                          ? sc_streams_find(handle, call->per_thread)
                                          : NULL;
    return stream && !sc_streams_is_capturing(stream) ? stream : NULL;
}

/* Returns where the ledger of memory is to enter an allocation: the number of its device plus 1; 0:
 * not known; SC_MEMORY_CAPTURED: a capture takes the allocation, so nothing is allocated yet. */
static int ledger_device(const struct sc_call *call, CUstream handle)
{
    struct sc_stream_record *stream =
        sc_booking_is_on() ? sc_streams_find(handle, call->per_thread) : NULL;
    if (!stream)
        return sc_capturing_seen() ? SC_MEMORY_CAPTURED : 0;
    return sc_streams_is_captured(stream) ? SC_MEMORY_CAPTURED : stream->context->device + 1;
}

/* Called when the driver has answered an allocation in a stream's order that went the general way:
 * enters it, or the refusal, into the ledger of memory, and records it as a use of device memory
 * where that is watched. `pool` 0: the device's current pool. Returns `result`. */
static CUresult end_allocation(struct work *work, CUstream handle, const CUdeviceptr *address,
                               size_t bytes, uintptr_t pool, CUresult result)
{
    struct sc_stream_record *stream =
        result == CUDA_SUCCESS ? watched_stream(work->detour.call, handle) : NULL;
    const struct sc_call *call = work->detour.call;
    if (result == CUDA_SUCCESS)
        sc_memory_given(call, &(const struct sc_memory){SC_MEMORY_POOLED, *address, bytes, pool,
                                                        ledger_device(call, handle)});
    else
        sc_shortage_refused(call, &(const struct sc_memory){SC_MEMORY_POOLED, 0, bytes, pool, 0},
                            result);
    if (stream)
        sc_device_uses_note_allocated(work->detour.call, stream, *address, bytes);
    return end_work(work, result);
}

/* Returns the stream of an allocation that merely has to be entered into the ledger of memory,
 * since nothing has ever captured and device memory is not watched. It is no work of the stream, so
 * no tie of the stream matters. NULL: the allocation goes the general way. */
SC_INLINED struct sc_stream_record *find_simple_allocating(enum sc_simplicity least,
                                                           CUstream handle, bool per_thread)
{
    if (sc_unlikely(sc_track_watches_device(&sc_track)))
        return NULL;
    struct sc_stream_record *stream = sc_likely((uintptr_t)handle > (uintptr_t)CU_STREAM_PER_THREAD)
                                          ? sc_streams_find_simple(least, handle, 0)
                                          : NULL;
    if (sc_likely(stream != NULL))
        return stream;
    return sc_process_simplicity() >= least ? sc_streams_find(handle, per_thread) : NULL;
}

/* Called if the driver has refused an allocation that went the quick way: reports a refusal because
 * of a capture, and notes in the ledger one for want of memory. */
static __attribute__((noinline)) void end_simple_refused(const struct sc_call *call, size_t bytes,
                                                         uintptr_t pool, CUresult result)
{
    sc_detour_report_refused(call->api, call->site, call->per_thread, result);
    sc_shortage_refused(call, &(const struct sc_memory){SC_MEMORY_POOLED, 0, bytes, pool, 0},
                        result);
}

/* Called when the driver has answered an allocation that went the quick way: enters it into the
 * ledger of memory, unless option memory is off. `pool` 0: the device's current pool. */
SC_INLINED void end_simply(const char *api, void *site, bool per_thread, int device,
                           const CUdeviceptr *address, size_t bytes, uintptr_t pool,
                           CUresult result)
{
    if (sc_unlikely(result != CUDA_SUCCESS))
        end_simple_refused(&(const struct sc_call){api, site, per_thread}, bytes, pool, result);
    else if (sc_likely(sc_options.memory))
        sc_booking_given_in_order(api, site, *address, bytes, device, pool);
}

/* Makes the wrapper of an allocation in a stream's order, with a quick way for processes that have
 * never captured. The device is read before the driver's call: another thread may destroy the
 * stream meanwhile. */
#define ALLOCATES(symbol, pool, parameters, arguments)                                             \
    SC_INLINED bool symbol##_simply(enum sc_simplicity least, const char *api, void *site,         \
                                    bool per_thread, CUresult *result, SC_LIST parameters)         \
    {                                                                                              \
        struct sc_stream_record *on =                                                              \
            SC_HAVE(symbol) ? find_simple_allocating(least, stream, per_thread) : NULL;            \
        if (sc_unlikely(!on))                                                                      \
            return false;                                                                          \
        int device = on->context->device;                                                          \
        sc_booking_begins_in_order((uintptr_t)(pool));                                             \
        *result = sc_real.symbol arguments;                                                        \
        end_simply(api, site, per_thread, device, address, bytes, (uintptr_t)(pool), *result);     \
        return true;                                                                               \
    }                                                                                              \
    SC_SIMPLE_PAIR(symbol, _ptsz, parameters, arguments)                                           \
    {                                                                                              \
        struct work work;                                                                          \
        SC_SIMPLY_BUT_HEARD(symbol, arguments);                                                    \
        begin_allocation(&work, call, &stream);                                                    \
        sc_booking_begins_in_order((uintptr_t)(pool));                                             \
        CUresult result =                                                                          \
            endangers_captures(&work, stream) ? SC_PERMITTED(real arguments) : real arguments;     \
        return end_allocation(&work, stream, address, bytes, (uintptr_t)(pool), result);           \
    }
ALLOCATES(cuMemAllocAsync, 0, (CUdeviceptr * address, size_t bytes, CUstream stream),
          (address, bytes, stream))
ALLOCATES(cuMemAllocFromPoolAsync, pool,
          (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream),
          (address, bytes, pool, stream))

/* A free in a stream's order, from before the driver's call. */
struct freeing {
    struct sc_memory memory;
    struct sc_allocation allocation;
    struct sc_stream_record *stream; /* where the free is noted, or NULL */
};

/* Called before a free in a stream's order: tells the ledger of memory, and, where device memory is
 * watched, judges the free against what is in flight there (not behind the driver's call, in a
 * replay). A captured free frees nothing yet: then the memory's name is 0. */
static void begin_free(struct freeing *freeing, const struct sc_call *call, CUdeviceptr address,
                       CUstream handle)
{
    bool is_captured = sc_capturing_seen() && sc_issue_is_captured(call, handle);
    freeing->memory = (struct sc_memory){SC_MEMORY_POOLED, is_captured ? 0 : address, 0, 0, 0};
    if (!is_captured)
        sc_memory_leaves(call, &freeing->memory);
    freeing->allocation =
        is_captured ? (struct sc_allocation){0} : sc_device_memory_leaves(address);
    freeing->stream = freeing->allocation.size_bytes ? watched_stream(call, handle) : NULL;
    if (freeing->stream && !sc_replaying_follows())
        sc_device_uses_judge_free(call, freeing->stream, &freeing->allocation);
}

/* Called when the driver has answered a free in a stream's order: an accepted one is recorded as a
 * use of the whole block, after which no other use may come. A captured one has freed nothing. */
static void end_free(const struct freeing *freeing, const struct sc_call *call, CUresult result)
{
    if (freeing->memory.name)
        sc_memory_left(&freeing->memory, sc_memory_is_taken(result));
    if (freeing->stream && result == CUDA_SUCCESS)
        sc_device_uses_note_ordered_free(call, freeing->stream, &freeing->allocation);
    else
        sc_device_memory_left(&freeing->allocation, result == CUDA_SUCCESS);
}

/* Returns the id of the call stack of a free, for the history (and the post-mortem); 0: none is
 * known. A stack that was found before is recognised without unwinding. Must be inlined into the
 * wrapper, whose frame it uses. */
SC_INLINED uint32_t stack_of_simple_free(void *site)
{
    uintptr_t depth = (uintptr_t)__builtin_frame_address(0);
    const struct sc_stack_known *known = sc_unwind_known(site, depth);
    if (sc_unlikely(!known)) /* the thread may have made no other call yet */
        sc_thread_stack_learn();
    return sc_likely(known != NULL) ? known->id : site ? sc_unwind_at(site, depth) : 0;
}

/* Adds a free that went the quick way to the history, from which the post-mortem of a lost context
 * is written. `number`: the free's place among all frees of the process (sc_ledger_number_free); 0:
 * the history numbers it, since option memory is off. The clock is read for each 32nd entry only;
 * the others get a time that is later than all before. */
SC_INLINED void note_simple_free(const char *api, void *site, struct sc_stream_record *stream,
                                 uintptr_t address, uint64_t number)
{
    enum { EVERY = 32 };
    const struct sc_history_entry entry = {
        .api = api,
        .site = (uintptr_t)site,
        .stack = stack_of_simple_free(site),
        .stream = stream->id,
        .thread = sc_thread_id(),
        .direction = SC_FREE,
        .ticks = sc_unfinished_now(stream),
        .number = sc_stream_front_issued(stream->front) + 1,
        .address = address,
    };
    if (sc_unlikely(sc_history_note(&sc_history.frees, number, &entry) % EVERY == 0))
        sc_ticks_note_read(sc_ticks());
}

/* Returns the stream of a free that may go the quick way: device memory is not watched, the stream
 * waits for no other one, and no operation needs a mark (an event by which completion is learnt)
 * before the free. NULL: the general way. */
SC_INLINED struct sc_stream_record *find_freeing(enum sc_simplicity least, CUstream handle,
                                                 bool per_thread)
{
    if (sc_unlikely(sc_track_watches_device(&sc_track)))
        return NULL;
    if (sc_unlikely((uintptr_t)handle <= (uintptr_t)CU_STREAM_PER_THREAD))
        return sc_work_begin_legacy_free(least, handle, per_thread);
    struct sc_stream_record *stream =
        sc_streams_find_simple(least, handle, SC_TIE_KIND | SC_TIE_DUE);
    return sc_likely(stream && sc_marks_cover_simple(stream)) ? stream : NULL;
}

/* Called for a free that went the quick way, if the driver has refused it or the ledger of memory
 * did not know the block: enters that into the ledger, and reports a refusal because of a capture.
 */
static __attribute__((noinline)) void end_slow_free(const struct sc_call *call, uintptr_t address,
                                                    const struct sc_ledger_leaving *leaving,
                                                    CUresult result)
{
    sc_booking_note_left_in_order(address, leaving, sc_memory_is_taken(result));
    if (result != CUDA_SUCCESS)
        sc_detour_report_refused(call->api, call->site, call->per_thread, result);
}

/* The quick way of cuMemFreeAsync's wrapper: makes the call and returns true, if the free merely
 * has to be entered into the ledger of memory and the history. False: nothing was done. The block
 * is taken out of the ledger before the call, since another thread may be handed the memory before
 * it returns. */
SC_INLINED bool cuMemFreeAsync_simply(enum sc_simplicity least, const char *api, void *site,
                                      bool per_thread, CUresult *result, CUdeviceptr address,
                                      CUstream handle)
{
    struct sc_stream_record *stream =
        SC_HAVE(cuMemFreeAsync) ? find_freeing(least, handle, per_thread) : NULL;
    if (sc_unlikely(!stream))
        return false;
    struct sc_ledger_leaving leaving;
    uint64_t number = 0;
    bool is_known = sc_unlikely(!sc_options.memory) ||
                    sc_ledger_leaves_of_pool(&sc_ledger, address, &leaving, &number);
    *result = sc_real.cuMemFreeAsync(address, handle);
    if (sc_unlikely(stream->kind == SC_STREAM_LEGACY))
        sc_unfinished_legacy(stream);
    if (sc_unlikely(*result != CUDA_SUCCESS || !is_known))
        end_slow_free(&(const struct sc_call){api, site, per_thread}, address, &leaving, *result);
    if (sc_likely(*result == CUDA_SUCCESS && sc_options.postmortem))
        note_simple_free(api, site, stream, address, number);
    return true;
}

/* The general way of a free in a stream's order. A replay before the driver's call (of a free that
 * came through no wrapper) only finds the block: a second run behind the call notes the free. */
SC_SIMPLE_PAIR(cuMemFreeAsync, _ptsz, (CUdeviceptr address, CUstream stream), (address, stream))
{
    SC_SIMPLY_BUT_HEARD(cuMemFreeAsync, (address, stream));
    struct work work;
    struct freeing freeing;
    if (sc_unlikely(sc_replaying_prepares())) {
        begin_free(&freeing, call, address, stream);
        return real(address, stream);
    }
    sc_detour_begin(&work.detour, call, &stream);
    begin_free(&freeing, call, address, stream);
    sc_work_begin(&work.work, call, stream, SC_WORK_QUIET);
    CUresult result = endangers_captures(&work, stream) ? SC_PERMITTED(real(address, stream))
                                                        : real(address, stream);
    if (work.work.stream && result == CUDA_SUCCESS)
        sc_recently_freed(call->api, call->site, address, freeing.allocation.size_bytes);
    end_free(&freeing, call, result);
    return end_work(&work, result);
}

/* ---- work whose kind its row in api.def says: waits for and writes of values and semaphores, and
 * others ---- */

/* Returns what a batch of memory operations (cuStreamBatchMemOp) may do, as SC_WORK_* bits: it may
 * write values, by which the host may learn that earlier work is done, wait for values that the
 * host writes, or both. */
static unsigned kind_of_ops(const CUstreamBatchMemOpParams *operations, unsigned count)
{
    struct sc_memory_ops ops = sc_memory_ops_of(operations, count);
    unsigned kind = ops.writes ? SC_WORK_MAY_WRITE | SC_WORK_SIGNALS : SC_WORK_QUIET;
    return ops.waits ? kind | SC_WORK_AWAITS_HOST : kind;
}

#define SC_WORKS(name, suffix, version, per_thread_version, arguments, stream, kind)               \
    SC_PAIR(name##suffix, _ptsz, SC_PARAMETERS(name##suffix, arguments), arguments)                \
    {                                                                                              \
        struct work work;                                                                          \
        begin_work(&work, call, &stream, kind);                                                    \
        return end_work(&work, real arguments);                                                    \
    }
#include "interpose/driver/api.def"

/* ---- others ---- */

/* Attaches managed memory to a stream. On a stream that captures the driver refuses the call in any
 * mode. On another stream it is made under a permit (in the relaxed capture mode), since it would
 * else break captures of other threads. */
SC_PAIR(cuStreamAttachMemAsync, _ptsz,
        (CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags),
        (stream, address, bytes, flags))
{
    struct work work;
    begin_work(&work, call, &stream, SC_WORK_QUIET);
    CUresult result = sc_detour_leave_report_to_caller(&work.detour)
                          ? SC_PERMITTED(real(stream, address, bytes, flags))
                          : real(stream, address, bytes, flags);
    return end_work(&work, result);
}

/* Uploads a graph, which is work of the stream. On a stream that captures the driver refuses the
 * call, which is reported. */
SC_PAIR(cuGraphUpload, _ptsz, (CUgraphExec exec, CUstream stream), (exec, stream))
{
    struct work work;
    begin_work(&work, call, &stream, SC_WORK_QUIET);
    CUresult result = sc_work_end(&work.work, real(exec, stream));
    if (sc_detour_leave_report_to_caller(&work.detour))
        sc_permit_report_refused(call, result);
    return sc_detour_end(&work.detour, result);
}

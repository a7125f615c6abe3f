/* Contexts end. Their work is known done, and their memory and handles become void. What needs the
 * context is done before the driver's call, since nothing may be asked of the context afterwards.
 */
#include "interpose/calls/context_calls.h"

#include "common/checks.h"
#include "common/deadlines.h"
#include "common/now.h"
#include "common/points.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/calls/memory.h"
#include "interpose/capture/captures.h"
#include "interpose/capture/detours.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"
#include "interpose/driver/wrap.h"
#include "interpose/guard/door.h"
#include "interpose/ledger/balance.h"
#include "interpose/ledger/booking.h"
#include "interpose/ledger/limits.h"
#include "interpose/ledger/managed.h"
#include "interpose/ledger/memory_kinds.h"
#include "interpose/memory/pinned.h"
#include "interpose/memory/snapshots.h"
#include "interpose/reaper/nvtx.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/streams.h"
#include "ledger/ledger.h"
#include "track/allocations.h"
#include "track/graph_frees.h"
#include "track/hold.h"
#include "track/hold_kind.h"
#include "track/inflight_calls.h"
#include "track/track.h"
#include "track/track_holds.h"
#include "track/track_order.h"

#include "common/poison.h"

/* How long make_quiet waits for the locks of a context's streams. */
enum { STREAM_LOCK_NS = 100 * 1000 * 1000 };

static _Atomic unsigned ended_contexts; /* ended unseen, not yet buried */

/* Removes the holds of the context's pinned memory, which has ended with the context: a later free
 * at the same address would wait for the hold. */
static void end_pinned_holds(const struct sc_context *context)
{
    struct sc_release release = sc_track_take_ready(&sc_track, 0);
    while (release.hold) {
        if (sc_hold_is_drivers(release.kind) && release.context == context->legacy) {
            SC_TRACKED(sc_holds_end(track.holds, release.hold));
            sc_ledger_let_go(&sc_ledger, release.age, sc_now_ns() - release.since_ns);
        } else
            SC_TRACKED(sc_holds_put_back(track.holds, release.hold));
        release = sc_track_take_ready(&sc_track, release.age);
    }
}

/* Removes all memory and graphs of the context from the tracker. */
static void end_memory(const struct sc_context *context)
{
    SC_TRACK_SCOPE(track);
    sc_inflight_remove_ranges_of(track.inflight, context->legacy);
    sc_allocations_remove_of_context(track.allocations, context->legacy);
    sc_graphs_remove_of_context(track.graphs, context->legacy);
    sc_holds_forget_graphs_of(track.holds, context->legacy);
}

/* Notes all work of the context as done, and its memory as gone. Takes only locks of the tracker,
 * the guard and the reaper. */
static void end_work(const struct sc_context *context)
{
    struct sc_point point = sc_track_sync_point(&sc_track, context->legacy, SC_SCOPE_CONTEXT);
    sc_track_note_known(&sc_track, &point, NULL, NULL);
    end_memory(context);
    sc_managed_context_ended(context);
    sc_booking_context_ended(context);
    sc_limits_context_ended(context);
    sc_reaper_graph_changed();
    end_pinned_holds(context);
    sc_guard_apply(SC_GUARD_ALL);
}

/* Makes the context's work count as ended from now on. Everything else is ended by a later call
 * (bury), which may take more locks and call the driver. */
void sc_context_calls_note_end(CUcontext handle)
{
    struct sc_context *context = sc_contexts_known(handle);
    if (!context || atomic_exchange(&context->gone, true))
        return;
    atomic_fetch_add(&ended_contexts, 1);
    sc_pinned_context_unnamed(context);
    if (!context->may_be_green)
        end_work(context);
}

/* Frees all that was kept for the context, which the driver has ended. */
static void end_context(struct sc_context *context)
{
    if (atomic_exchange(&context->gone, true))
        atomic_fetch_sub(&ended_contexts, 1);
    end_work(context);
    sc_snapshots_context_gone(context);
    sc_pinned_context_gone(context);
    sc_captures_forget_of_context(context);
    sc_streams_forget_of(context, /*events_are_dead=*/true);
    sc_marks_context_gone(context);
}

/* Ends a primary context, and the green contexts that end with it. */
static void end_with_greens(struct sc_context *context)
{
    struct sc_context *green;
    end_context(context);
    while ((green = sc_contexts_take_one(context)) != NULL)
        end_context(green);
}

/* Takes the stream's lock, when who has it has let go, and gives it back. */
static void pass_lock(void *deadline, struct sc_stream_record *stream)
{
    if (sc_lock_until(&stream->lock, deadline) == 0)
        pthread_mutex_unlock(&stream->lock);
}

/* Prevents new work of the library's in the context, and waits until calls in its streams have
 * returned. Another thread may hold a stream's lock for long: the driver has no room for what it
 * issues, and makes it wait, perhaps for what this thread does after its call. A release that is
 * not the last one, and the end of a green context, do not wait themselves. So this wait has a time
 * limit. */
static void make_quiet(struct sc_context *context)
{
    struct timespec deadline = sc_deadline_in(STREAM_LOCK_NS);
    sc_nvtx_await(); /* the tool is told of the context's streams while there are any */
    atomic_fetch_add(&context->quiet, 1);
    sc_streams_each_ever(context, pass_lock, &deadline);
}

/* Undoes make_quiet: work may begin in the context again. Makes the waits that its streams have
 * been put off meanwhile. */
static void end_quiet(struct sc_context *context)
{
    SC_ASSERT(atomic_load(&context->quiet) != 0);
    atomic_fetch_sub(&context->quiet, 1);
    sc_detours_make_owed_waits();
}

/* Takes the context out of the tables while its last call is under way. Returns NULL if it has no
 * record. */
static struct sc_context *take_and_quiet(CUcontext handle)
{
    struct sc_context *context = sc_contexts_take(handle);
    if (!context)
        return NULL;
    sc_pinned_context_unnamed(context);
    sc_balance_await(); /* a thread that asks the driver about memory may have it current */
    make_quiet(context);
    return context;
}

/* Makes the context's record valid again, after the driver has refused to end the context. */
static void put_back(struct sc_context *context)
{
    end_quiet(context);
    sc_contexts_put_back(context);
    sc_pinned_context_named(context);
}

/* Ends a green context: its streams end, while its memory and its events stay with its primary
 * context. */
static void end_green(struct sc_context *context)
{
    if (atomic_exchange(&context->gone, true))
        atomic_fetch_sub(&ended_contexts, 1);
    sc_streams_forget_of(context, /*events_are_dead=*/false);
    sc_marks_context_gone(context);
}

/* Ends all contexts that were only noted as ended. Mostly there is none. */
void sc_context_calls_bury_ended(void)
{
    while (sc_unlikely(atomic_load_explicit(&ended_contexts, memory_order_relaxed) != 0)) {
        struct sc_context *context = sc_contexts_take_one(NULL);
        if (!context)
            return;
        if (context->primary)
            end_green(context);
        else
            end_with_greens(context);
    }
}

/* ---- contexts: destroying one completes its work first (docs/driver.md, Q13) ---- */

/* Takes the context that the call is about to end. In a replay the driver has ended it already, and
 * the handle may belong to another context: then only a context that is known to have ended is
 * taken. */
static struct sc_context *take_ending(CUcontext handle)
{
    const struct sc_context *known = sc_active() && handle ? sc_contexts_known(handle) : NULL;
    if (!known || (sc_replaying_is_on() && !known->gone && !known->may_be_green))
        return NULL;
    return take_and_quiet(handle);
}

/* Ends the context that was taken, or, if the driver has refused, puts it back. */
static CUresult end_taken(struct sc_context *context, CUresult result)
{
    if (context && result == CUDA_SUCCESS)
        end_with_greens(context);
    else if (context)
        put_back(context);
    return result;
}

/* Returns the device's primary context if we have met it and it is alive, or NULL. */
static CUcontext primary_context(CUdevice device)
{
    return sc_active() ? sc_contexts_primary(device) : NULL;
}

SC_VERSIONS(cuCtxDestroy, cuCtxDestroy_v2, (CUcontext handle), (handle))
{
    const struct sc_memory memory = {SC_MEMORY_CONTEXT, (uintptr_t)handle, 0, 0, 0};
    struct sc_context *context = take_ending(handle);
    sc_memory_leaves(call, &memory);
    CUresult result = end_taken(context, real(handle));
    sc_memory_left(&memory, sc_memory_is_taken(result));
    return result;
}

/* Returns the device's primary context as the ledger has it: under the device's number. */
static struct sc_memory primary_of(CUdevice device)
{
    return (struct sc_memory){SC_MEMORY_CONTEXT, (uintptr_t)device + 1, 0, 0, 0};
}

SC_VERSIONS(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, (CUdevice device), (device))
{
    const struct sc_memory memory = primary_of(device);
    struct sc_context *context = take_ending(primary_context(device));
    sc_memory_leaves(call, &memory);
    CUresult result = end_taken(context, real(device));
    sc_memory_left(&memory, sc_memory_is_taken(result));
    if (result == CUDA_SUCCESS)
        sc_booking_device_reset(device);
    return result;
}

/* A release of a primary context. The last release ends the context as a reset does; whether it was
 * the last is asked afterwards. */
struct releasing {
    CUdevice device;
    CUcontext handle;
    struct sc_context *context; /* NULL: not known, and nothing is to be done */
    struct sc_memory memory;
};

/* Makes the context quiet (no calls of the library's in it), since the release may be the last one,
 * which ends it. */
static struct releasing begin_release(const struct sc_call *call, CUdevice device)
{
    struct releasing releasing = {
        .device = device, .handle = primary_context(device), .memory = primary_of(device)};
    sc_memory_leaves(call, &releasing.memory);
    if (releasing.handle)
        releasing.context = sc_contexts_known(releasing.handle);
    if (releasing.context) {
        make_quiet(releasing.context);
        sc_balance_await();
    }
    return releasing;
}

/* Ends the context if that was the last release. */
static CUresult end_release(CUresult result, const struct releasing *releasing)
{
    unsigned flags = 0;
    int alive = 1;
    if (!releasing->memory.name)
        return result;
    bool is_last =
        result == CUDA_SUCCESS && sc_active() &&
        sc_real.cuDevicePrimaryCtxGetState(releasing->device, &flags, &alive) == CUDA_SUCCESS &&
        !alive;
    sc_memory_left(&releasing->memory, is_last);
    if (releasing->context && is_last)
        end_taken(take_ending(releasing->handle), result);
    else if (releasing->context)
        end_quiet(releasing->context);
    return result;
}

SC_VERSIONS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device), (device))
{
    struct releasing releasing = begin_release(call, device);
    return end_release(real(device), &releasing);
}

/* ---- green contexts ---- */

struct green_ending {
    struct sc_context *context; /* NULL: not known */
    struct releasing releasing; /* a green context holds its primary one, as a retain does */
};

/* Begins the end of a green context, which does not wait for its work. Records marks (completion
 * events) for that work while they still can be. */
static struct green_ending begin_green_end(const struct sc_call *call, CUgreenCtx green)
{
    CUcontext handle = sc_contexts_of_green(green);
    struct green_ending ending = {.context = NULL};
    ending.context = sc_active() && green ? sc_contexts_known(handle) : NULL;
    if (!ending.context)
        return ending;
    sc_marks_add_all(ending.context);
    ending.releasing = begin_release(call, ending.context->device);
    ending.context = take_and_quiet(handle);
    return ending;
}

/* Notes the driver's answer. Also if the driver has refused, a reference to the primary context may
 * have been released. */
static CUresult finish_green_end(const struct green_ending *ending, CUresult result)
{
    if (ending->context && result == CUDA_SUCCESS) {
        end_green(ending->context);
        end_quiet(ending->context);
    } else if (ending->context)
        put_back(ending->context);
    return end_release(result, &ending->releasing);
}

CUresult cuGreenCtxDestroy(CUgreenCtx green)
{
    SC_WRAPPER(cuGreenCtxDestroy);
    struct green_ending ending = begin_green_end(call, green);
    return finish_green_end(&ending, real(green));
}

/* Wrappers of calls that end contexts, and the end of contexts that CUPTI tells of. The context's
 * work is then known done, and its memory and handles become void. What needs the context is done
 * before the driver's call, since nothing may be asked of the context afterwards. */
#include "interpose/calls/context_calls.h"

#include "common/checks.h"
#include "common/deadlines.h"
#include "common/mutex.h"
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

/* How many contexts CUPTI has said to end whose records are still to be dropped (bury_ended). */
static _Atomic unsigned ended_contexts;

/* Called for a context that has ended, and its pinned memory with it: ends the holds on such memory
 * (memory that the program has freed and the library has kept). Else a free of other memory at the
 * same address would wait for the hold. Each hold whose work is done is taken in turn, by its age;
 * holds on other memory are put back as they were. */
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

/* Called for a context that has ended: makes the tracker forget its memory and its graphs. */
static void end_memory(const struct sc_context *context)
{
    SC_TRACK_SCOPE(track);
    sc_inflight_remove_ranges_of(track.inflight, context->legacy);
    sc_allocations_remove_of_context(track.allocations, context->legacy);
    sc_graphs_remove_of_context(track.graphs, context->legacy);
    sc_holds_forget_graphs_of(track.holds, context->legacy);
}

/* Called for a context that ends: notes all its work as done and its memory as gone, and unprotects
 * pages. No source is compared, since the memory is gone (`overwritten` NULL). May run within a
 * callback of the driver, so it takes only locks that are not held over calls of the driver: the
 * tracker's, the guard's and the reaper's. */
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

/* Called from within the driver when CUPTI tells that a context ends: its work counts as ended from
 * now on. All else is left to sc_context_calls_bury_ended, which may take more locks and call the
 * driver. A context may be told of twice, so `gone` is asked first. A green context can end while
 * its streams still have work, so that work is not ended here. */
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

/* Called when the driver has ended the context: ends its work (once more, if CUPTI told of the end
 * before), and frees all that the library has kept for it: snapshots, pinned memory, open captures,
 * streams, and marks (events by which completion is learnt). */
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

/* Ends a context that the driver has ended, and the green contexts that were made of it and end
 * with it. */
static void end_with_greens(struct sc_context *context)
{
    struct sc_context *green;
    end_context(context);
    while ((green = sc_contexts_take_one(context)) != NULL)
        end_context(green);
}

/* Waits, until the deadline, for the thread that has the stream's lock: after that no call of the
 * library's is under way on the stream. Called for each stream of a context that may end. */
static void await_lock(void *deadline, struct sc_stream_record *stream)
{
    if (sc_mutex_lock_until(&stream->lock, deadline) == 0)
        sc_mutex_unlock(&stream->lock);
}

/* Called before a call that may end the context: keeps the library from beginning calls in it
 * (quiet), and waits until those that are under way have returned. The wait has a time limit: a
 * thread may hold a stream's lock while the driver makes it wait for room in its queue, perhaps for
 * what this thread does after its call; and the program's call may be one that does not wait
 * itself. */
static void make_quiet(struct sc_context *context)
{
    struct timespec deadline = sc_deadline_in(STREAM_LOCK_NS);
    sc_nvtx_await(); /* the tool is told of the context's streams while there are any */
    atomic_fetch_add(&context->quiet, 1);
    sc_streams_each_ever(context, await_lock, &deadline);
}

/* Undoes make_quiet: the library may make calls in the context again. Waits that its streams could
 * not make meanwhile, for operations on a private stream (detours), are made now. */
static void end_quiet(struct sc_context *context)
{
    SC_ASSERT(atomic_load(&context->quiet) != 0);
    atomic_fetch_sub(&context->quiet, 1);
    sc_detours_make_owed_waits();
}

/* Called before the driver ends the context: takes its record out of the tables, since the handle
 * may name another context before the call returns, and makes it quiet (no calls of the library's
 * in it). Returns NULL if it has no record. The caller ends the record or calls put_back. */
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

/* Undoes take_and_quiet: the driver has refused to end the context, so its record is valid again.
 */
static void put_back(struct sc_context *context)
{
    end_quiet(context);
    sc_contexts_put_back(context);
    sc_pinned_context_named(context);
}

/* Called when the driver has ended a green context alone: its streams end, while its memory and its
 * events stay with its primary context. Its work may go on, so no work is noted as done. */
static void end_green(struct sc_context *context)
{
    if (atomic_exchange(&context->gone, true))
        atomic_fetch_sub(&ended_contexts, 1);
    sc_streams_forget_of(context, /*events_are_dead=*/false);
    sc_marks_context_gone(context);
}

/* Ends all contexts that sc_context_calls_note_end has only noted as ended, within a callback of
 * the driver. Called when a call has returned, and before the handle of such a context is used
 * again. Mostly there is none. */
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

/* Called before the driver ends the context that the call names: takes it out of the tables; NULL:
 * it has no record. In a replay (of a call that came through no wrapper) the driver may have ended
 * it already, and the handle may name another context: then only a context that is known to have
 * ended is taken, or one that may be green, whose end may not have been told. */
static struct sc_context *take_ending(CUcontext handle)
{
    const struct sc_context *known = sc_active() && handle ? sc_contexts_known(handle) : NULL;
    if (!known || (sc_replaying_is_on() && !known->gone && !known->may_be_green))
        return NULL;
    return take_and_quiet(handle);
}

/* Called when the driver has answered: ends the context that take_ending has taken, or, after a
 * refusal, puts it back. Returns `result`. */
static CUresult end_taken(struct sc_context *context, CUresult result)
{
    if (context && result == CUDA_SUCCESS)
        end_with_greens(context);
    else if (context)
        put_back(context);
    return result;
}

/* Returns the handle of the device's primary context, which a reset or release names by the device;
 * NULL: the library is inactive, the context is not alive, or the library has no record of it. */
static CUcontext primary_context(CUdevice device)
{
    return sc_active() ? sc_contexts_primary(device) : NULL;
}

/* Ends a context: its work, its records, and its entry in the ledger of memory. */
SC_VERSIONS(cuCtxDestroy, cuCtxDestroy_v2, (CUcontext handle), (handle))
{
    const struct sc_memory memory = {SC_MEMORY_CONTEXT, (uintptr_t)handle, 0, 0, 0};
    struct sc_context *context = take_ending(handle);
    sc_memory_leaves(call, &memory);
    CUresult result = end_taken(context, real(handle));
    sc_memory_left(&memory, sc_memory_is_taken(result));
    return result;
}

/* Returns the entry of the device's primary context in the ledger of memory. The program has no
 * handle of it at first, so it is entered under the device's number; plus 1, since 0 is no name. */
static struct sc_memory primary_of(CUdevice device)
{
    return (struct sc_memory){SC_MEMORY_CONTEXT, (uintptr_t)device + 1, 0, 0, 0};
}

/* A reset ends the device's primary context, whoever still uses it, and all memory there. */
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

/* Called before a primary context is released. The release may be the last one, which ends it, so
 * the library makes no calls in it meanwhile (quiet), and waits for a thread that is just asking
 * the driver what pools of the context hold (the ledger's balance). */
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

/* Called when the driver has answered a release: asks whether the primary context is still alive,
 * and ends its records if not; else calls may be made in it again. `memory.name` 0: begin_release
 * was not called, since the green context that ends is not known. Returns `result`. */
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

/* A release ends the device's primary context if it is the last one. */
SC_VERSIONS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device), (device))
{
    struct releasing releasing = begin_release(call, device);
    return end_release(real(device), &releasing);
}

/* ---- green contexts ---- */

/* The end of a green context, from before the driver's call. */
struct green_ending {
    struct sc_context *context; /* NULL: not known */
    struct releasing releasing; /* a green context holds its primary one, as a retain does */
};

/* Called before the driver ends a green context. Its work may go on after that, so marks (events by
 * which completion is learnt) are recorded behind it while they still can be. A green context has a
 * reference to its primary one, which may be the last: so the release of that is begun as well. */
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

/* Called when the driver has answered the end of a green context: ends its record, or puts it back
 * after a refusal. The primary context is asked about in both cases: even if the driver has
 * refused, a reference to it may have been released. Returns `result`. */
static CUresult finish_green_end(const struct green_ending *ending, CUresult result)
{
    if (ending->context && result == CUDA_SUCCESS) {
        end_green(ending->context);
        end_quiet(ending->context);
    } else if (ending->context)
        put_back(ending->context);
    return end_release(result, &ending->releasing);
}

/* Ends a green context, and perhaps its primary one, of which it has a reference. */
CUresult cuGreenCtxDestroy(CUgreenCtx green)
{
    SC_WRAPPER(cuGreenCtxDestroy);
    struct green_ending ending = begin_green_end(call, green);
    return finish_green_end(&ending, real(green));
}

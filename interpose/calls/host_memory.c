/* Wrappers of calls that allocate, register, free and unregister host memory that the driver knows:
 * pinned, registered and managed memory.
 *
 * Freeing pinned memory and unregistering make the driver wait for the whole context, and correct
 * programs rely on that. So if nothing is in flight on the buffer, the call passes through. Pinned
 * memory that is freed in flight is held, and the call returns at once. Memory that is unregistered
 * in flight stays the program's, which may read or overwrite it as soon as the call returns. So
 * that call waits for the operations on the memory, by an event, and not by a wait that no manual
 * promises.
 */
#include <time.h>
#include <unistd.h>

#include "common/checks.h"
#include "common/hazard_words.h"
#include "common/kernel.h"
#include "common/mutex.h"
#include "common/now.h"
#include "common/op_kinds.h"
#include "common/own_pages.h"
#include "common/pages.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/recently.h"
#include "interpose/base/thread_stack.h"
#include "interpose/calls/device_memory.h"
#include "interpose/calls/device_uses.h"
#include "interpose/calls/host_memory.h"
#include "interpose/calls/issue.h"
#include "interpose/calls/memory.h"
#include "interpose/calls/sync.h"
#include "interpose/capture/captures.h"
#include "interpose/capture/legacy_gate.h"
#include "interpose/capture/permits.h"
#include "interpose/driver/call.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/made_here.h"
#include "interpose/driver/relaxed.h"
#include "interpose/driver/replaying.h"
#include "interpose/driver/wrap.h"
#include "interpose/guard/door.h"
#include "interpose/ledger/booking.h"
#include "interpose/ledger/managed.h"
#include "interpose/ledger/memory_kinds.h"
#include "interpose/ledger/shortage.h"
#include "interpose/memory/pinned.h"
#include "interpose/memory/snapshots.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/deallocation.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/capturing.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/streams.h"
#include "ledger/ledger.h"
#include "ledger/ledger_words.h"
#include "track/allocations.h"
#include "track/graph_frees.h"
#include "track/guarded.h"
#include "track/hold.h"
#include "track/hold_kind.h"
#include "track/inflight_calls.h"
#include "track/track.h"
#include "track/track_front.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_presence.h"
#include "track/track_ranges.h"

#include "common/poison.h"

/* Returns the entry of such memory in the ledger, which knows who holds which memory. `size_bytes`
 * 0: the memory is given back, and the ledger knows its size. */
static struct sc_memory memory_of(const void *address, size_t size_bytes, enum sc_buffer_kind kind)
{
    return (struct sc_memory){
        .kind = kind == SC_REGISTERED ? SC_MEMORY_REGISTERED
                : kind == SC_MANAGED  ? SC_MEMORY_MANAGED
                                      : SC_MEMORY_PINNED,
        .name = (uintptr_t)address,
        .size_bytes = size_bytes,
    };
}

/* Notes memory that `call` has just allocated or registered: in the ledger, and as a range (memory
 * that the driver knows). New memory has no past: what was noted at its address is forgotten.
 * Registered memory was the program's before, so what is in flight there stays. */
static void add_range(const void *address, size_t size_bytes, enum sc_buffer_kind kind,
                      const struct sc_call *call)
{
    SC_KEEP_ERRNO();
    const struct sc_memory memory = memory_of(address, size_bytes, kind);
    sc_memory_given(call, &memory);
    struct sc_context *context = sc_active() ? sc_contexts_of_memory() : NULL;
    if (context && address && kind != SC_REGISTERED) {
        sc_track_note_allocated(&sc_track, (uintptr_t)address, size_bytes);
        sc_guard_apply(SC_GUARD_ALL);
    }
    if (context && address) {
        sc_track_add_range(&sc_track, (uintptr_t)address, size_bytes, kind, context->legacy,
                           sc_made_here(call));
        sc_guard_pin((uintptr_t)address, size_bytes, kind);
    }
}

/* Notes memory that the driver has allocated as pinned. No snapshot is taken of write-combined
 * memory, which is slow to read, nor of memory that is mapped for kernels, which may write it at
 * any time. */
void sc_host_memory_note_pinned(const void *address, size_t bytes, unsigned flags,
                                const struct sc_call *call)
{
    add_range(address, bytes, SC_PINNED, call);
    if (flags & (CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED))
        SC_TRACKED(sc_guarded_limit_snapshots(track.inflight, (uintptr_t)address, bytes,
                                              SC_SNAPSHOTS_NONE));
}

/* Notes managed memory. If the device does not allow the host to access it while kernels run,
 * reading a source would crash the program: no snapshot is taken there. */
void sc_host_memory_note_managed(CUdeviceptr address, size_t bytes, const struct sc_call *call)
{
    const void *memory = (const void *)(uintptr_t)address;
    const struct sc_context *context = sc_active() ? sc_contexts_of_memory() : NULL;
    add_range(memory, bytes, SC_MANAGED, call);
    sc_managed_given(call, address, bytes, context);
    if (context && !context->shares_managed)
        SC_TRACKED(sc_guarded_limit_snapshots(track.inflight, (uintptr_t)memory, bytes,
                                              SC_SNAPSHOTS_NONE));
}

/* Notes memory that the program has registered, and whether its sources must not be snapshotted, or
 * its pages must not be protected. */
void sc_host_memory_note_registered(const void *address, size_t bytes, unsigned flags,
                                    const struct sc_call *call)
{
    SC_TRACKED(sc_graphs_note_again(track.graphs, (uintptr_t)address, bytes, true));
    add_range(address, bytes, SC_REGISTERED, call);
    if (flags & CU_MEMHOSTREGISTER_DEVICEMAP)
        SC_TRACKED(sc_guarded_limit_snapshots(track.inflight, (uintptr_t)address, bytes,
                                              SC_SNAPSHOTS_NONE));
    if (flags & (CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY))
        SC_TRACKED(
            sc_guarded_set(track.inflight, (uintptr_t)address, bytes, SC_GUARDING_FORBIDDEN));
}

/* Called with the driver's answer to an allocation or a registration: a refusal is noted in the
 * ledger, which says who holds the memory. Returns `result`. */
static CUresult book_refused(const struct sc_call *call, size_t bytes, enum sc_buffer_kind kind,
                             CUresult result)
{
    const struct sc_memory memory = memory_of(NULL, bytes, kind);
    sc_shortage_refused(call, &memory, result);
    return result;
}

/* ---- held memory is in the way ---- */

/* How long a refused allocation waits for held memory and for ours, at most. */
enum { HELD_WAIT_NS = 100 * 1000 * 1000, PAUSE_NS = 1000 * 1000, IDLE_MOST = 4 };

/* Does the library keep any pinned memory that the program has freed, or any registration that it
 * has ended (a hold)? Only then can a refused allocation be the fault of held memory. */
static bool is_any_held(void)
{
    return sc_track_has_any(&sc_track, SC_HAS_HOLDS) &&
           sc_track_is_held(&sc_track, 0, SIZE_MAX, SC_HOLDS_DRIVERS);
}

/* Called when an allocation was refused: frees pinned memory of the context that the program has
 * freed before and the library still holds. If none can be freed yet, waits for the work that uses
 * it, until `until_ns` or until another thread has freed some. Memory that only a graph uses is not
 * waited for, since no work ends that. Returns whether this thread has freed any. */
static bool free_held_memory(const struct sc_context *context, uint64_t until_ns)
{
    const uint64_t before = sc_reaper_gave_back();
    bool gave = sc_reaper_give_back_pinned(context);
    uint64_t now_ns = sc_now_ns();
    while (!gave && sc_reaper_gave_back() == before && now_ns < until_ns &&
           SC_TRACKED(sc_holds_end_with_work(track.holds, context->legacy)) &&
           !sc_reaper_has_stopped()) {
        uint64_t next_ns = now_ns + PAUSE_NS;
        sc_reaper_sleep(sc_reaper_pass_number(), next_ns < until_ns ? next_ns : until_ns);
        gave = sc_reaper_give_back_pinned(context);
        now_ns = sc_now_ns();
    }
    return gave;
}

/* ---- memory of ours is in the way ---- */

/* Called for each stream of a context: sets *argument if the stream may have work that is not done.
 * The driver cannot be asked about another thread's default stream, which only that thread can
 * name, nor about a stream that captures, so these count as busy. */
static void look_for_work(void *argument, struct sc_stream_record *stream) SC_UNFOLLOWED
{
    bool *is_busy = argument;
    SC_LOCKED(&stream->lock);
    if (!*is_busy && !sc_stream_is_gone(stream))
        *is_busy = (stream->owner && stream->owner != sc_thread_id()) ||
                   sc_streams_is_capturing(stream) ||
                   sc_real.cuStreamQuery(stream->handle) != CUDA_SUCCESS;
}

/* Frees the pinned memory that the library itself has in the context; *gave: whether there was any.
 * Returns false, having done nothing, if the context has work, for which the driver would wait in
 * such a free. While a stream captures, the legacy stream cannot be asked about, so the context
 * counts as busy; the gate keeps captures from beginning meanwhile. */
static bool free_own_pinned(struct sc_context *context, bool *gave)
{
    SC_RELAXED();
    sc_legacy_gate_enter();
    bool is_busy = sc_captures_any_open();
    sc_streams_each_ever(context, look_for_work, &is_busy);
    sc_legacy_gate_leave();
    if (!is_busy) {
        *gave = sc_pinned_give_up(context);
        *gave |= sc_snapshots_give_up(context);
    }
    return !is_busy;
}

/* How often the library has given pinned memory of its own back to the driver. */
static _Atomic uint64_t gave_ours;

/* Called when an allocation was refused: frees the pinned memory that the library itself has in the
 * context. While the context has work, tries again until `until_ns`. At most a twentieth of the
 * program's time is spent so: after a vain wait, the next one comes twenty times as long after. */
static void retry_free_own(struct sc_context *context, uint64_t until_ns)
{
    static _Atomic uint64_t not_before_ns;
    const struct timespec pause = {0, PAUSE_NS};
    const uint64_t since_ns = sc_now_ns();
    bool gave = false, is_idle;
    if (!(sc_snapshots_have(context) || sc_pinned_keeps_any()) || !sc_contexts_push(context))
        return;
    while (!(is_idle = free_own_pinned(context, &gave)) &&
           since_ns >= atomic_load(&not_before_ns) && sc_now_ns() < until_ns)
        sc_kernel_call(SYS_nanosleep, &pause, NULL);
    sc_contexts_pop();
    atomic_fetch_add(&gave_ours, gave);
    if (!is_idle && since_ns >= atomic_load(&not_before_ns))
        atomic_store(&not_before_ns, until_ns + 20 * (until_ns - since_ns));
}

/* Returns how often the library has given memory back to the driver so far: memory that it held for
 * the program, and its own. */
static uint64_t gave_back_so_far(void)
{
    return sc_reaper_gave_back() + atomic_load(&gave_ours);
}

/* Called before an allocation, which may fail because of what the library holds: returns the state
 * in which its retries are counted (make_room). */
struct sc_host_memory_room sc_host_memory_room(void)
{
    return (struct sc_host_memory_room){.gave_back = gave_back_so_far()};
}

/* Has the library given memory back to the driver since this was asked last (at first: since before
 * the allocation)? Then the allocation may succeed now. Also stores what is given back by now. */
static bool take_if_more_freed(struct sc_host_memory_room *room)
{
    const uint64_t gave_back = gave_back_so_far();
    const bool is_it = gave_back != room->gave_back;
    room->gave_back = gave_back;
    return is_it;
}

/* Decides whether a refused allocation is tried once more although nothing was given back: another
 * thread may be about to give back memory that the program has freed and the library holds. That is
 * so a few times for each allocation, after a pause of a millisecond. */
static bool may_retry_idle(struct sc_host_memory_room *room)
{
    const struct timespec pause = {0, PAUSE_NS};
    if (room->idle++ == IDLE_MOST)
        return false;
    sc_kernel_call(SYS_nanosleep, &pause, NULL);
    return true;
}

/* Called in a loop with the driver's answer to an allocation: returns whether the caller is to make
 * it once more. If the driver has no memory, that may be the library's fault: it holds memory that
 * the program has freed, and has pinned memory of its own. Both are given back as far as work in
 * the context allows, for 100 ms or stall_limit at most from the first failure on. What other
 * threads free meanwhile may be held in its turn, so the caller asks again after each failure. */
static bool make_room(struct sc_host_memory_room *room, CUresult result)
{
    if (sc_likely(result != CUDA_ERROR_OUT_OF_MEMORY) || !sc_active())
        return false;
    SC_KEEP_ERRNO();
    struct sc_context *context = sc_contexts_of_memory();
    const uint64_t now_ns = sc_now_ns();
    if (!room->until_ns)
        room->until_ns =
            now_ns +
            (sc_options.stall_limit_ns < HELD_WAIT_NS ? sc_options.stall_limit_ns : HELD_WAIT_NS);
    else if (now_ns >= room->until_ns)
        return false;
    const bool was_held = is_any_held();
    if (was_held && context && free_held_memory(context, room->until_ns) && !room->is_settled) {
        room->is_settled = true;
        sc_ledger_count(&sc_ledger, SC_LEDGER_SETTLED);
    }
    if (context)
        retry_free_own(context, room->until_ns);
    return take_if_more_freed(room) || (was_held && may_retry_idle(room));
}

/* Does the same as make_room for an allocation of another kind that has failed for want of memory,
 * if the memory is on the host; device memory is none that the library holds. */
bool sc_host_memory_make_room(struct sc_host_memory_room *room, const struct sc_memory *memory)
{
    return sc_booking_place(memory) == SC_LEDGER_HOST && make_room(room, CUDA_ERROR_OUT_OF_MEMORY);
}

/* Serves an allocation of pinned memory from pages of the library's own, which can be protected
 * apart from other memory, if they are as good as the driver's. Returns false if the driver has to
 * make the call: while a stream captures it might refuse it, and the program has to see that. */
static bool serve_pinned(void **address, size_t bytes, unsigned flags, const struct sc_call *call)
{
    if (!address || sc_captures_any_open())
        return false;
    struct sc_relaxed relaxed = sc_relaxed_begin(); /* a capture may begin meanwhile */
    void *ours = sc_pinned_allocate(bytes, flags);
    sc_relaxed_end(&relaxed);
    if (!ours)
        return false;
    *address = ours;
    sc_host_memory_note_pinned(ours, bytes, flags, call);
    return true;
}

#define PINS(symbol, parameters, arguments, flags, served)                                         \
    CUresult symbol parameters                                                                     \
    {                                                                                              \
        SC_WRAPPER(symbol);                                                                        \
        if (served)                                                                                \
            return CUDA_SUCCESS;                                                                   \
        struct sc_host_memory_room room = sc_host_memory_room();                                   \
        CUresult result = SC_PERMITTED(real arguments);                                            \
        while (make_room(&room, result))                                                           \
            result = SC_PERMITTED(real arguments);                                                 \
        if (result == CUDA_SUCCESS)                                                                \
            sc_host_memory_note_pinned(*address, bytes, flags, call);                              \
        return book_refused(call, bytes, SC_PINNED, result);                                       \
    }

PINS(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags), (address, bytes, flags), flags,
     serve_pinned(address, bytes, flags, call))
PINS(cuMemAllocHost_v2, (void **address, size_t bytes), (address, bytes), 0,
     serve_pinned(address, bytes, 0, call))
/* A function from before CUDA 3.2, the only one of that time that takes no 32-bit device address.
 * What it does is up to the driver, so the library's own pages never serve it. */
PINS(cuMemAllocHost, (void **address, unsigned bytes), (address, bytes), 0, false)

/* Allocates managed memory. With CU_MEM_ATTACH_HOST no device is meant to have it at first. */
CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags)
{
    SC_WRAPPER(cuMemAllocManaged);
    CUresult result = SC_PERMITTED(real(address, bytes, flags));
    if (result == CUDA_SUCCESS)
        sc_host_memory_note_managed(*address, bytes, call);
    if (result == CUDA_SUCCESS && flags == CU_MEM_ATTACH_HOST)
        sc_managed_lies_nowhere(*address, bytes);
    return book_refused(call, bytes, SC_MANAGED, result);
}

/* Called before the program registers memory: waits until the library keeps nothing there that the
 * program has given back (a hold), such as heap memory that was freed in flight. A registration
 * that was kept for a graph ends now, since the driver would refuse a second one. */
static void settle_held(const void *address, size_t bytes)
{
    sc_guard_unprotect(address, bytes); /* the driver could not pin protected pages */
    if (sc_active() && sc_track_is_held(&sc_track, (uintptr_t)address, bytes, SC_HOLDS_REAPERS))
        sc_reaper_await_no_hold((uintptr_t)address, bytes, "cuMemHostRegister");
    sc_reaper_end_registrations((uintptr_t)address, bytes);
}

/* Called before the program registers memory: has the library let go of it (settle_held). Returns
 * false if the memory is part of a pinned allocation that the library has served: the driver
 * refuses to register its own memory, and the program takes that allocation for the driver's. */
static bool settle_and_may_register(const void *address, size_t bytes)
{
    settle_held(address, bytes);
    return !sc_pinned_overlaps((uintptr_t)address, bytes);
}

/* Registers memory of the program. A refusal for want of memory may be the library's fault, so the
 * call is tried again. */
SC_VERSIONS(cuMemHostRegister, cuMemHostRegister_v2, (void *address, size_t bytes, unsigned flags),
            (address, bytes, flags))
{
    if (!settle_and_may_register(address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    struct sc_host_memory_room room = sc_host_memory_room();
    CUresult result = SC_PERMITTED(real(address, bytes, flags));
    while (make_room(&room, result))
        result = SC_PERMITTED(real(address, bytes, flags));
    if (result == CUDA_SUCCESS)
        sc_host_memory_note_registered(address, bytes, flags, call);
    return book_refused(call, bytes, SC_REGISTERED, result);
}

/* A call that gives host memory back: a free or an unregistering. */
struct giving_back {
    struct sc_memory memory;
    void *address;
    enum sc_buffer_kind kind;
    const struct sc_call *call;
    struct sc_culprit culprit;
    struct sc_permit permit;
    CUresult result; /* the call's result where the memory is kept back */
};

/* Describes a call that frees or unregisters the memory at `address`; `kind`: what it can free. */
static struct giving_back describe_giving(void *address, enum sc_buffer_kind kind,
                                          const struct sc_call *call)
{
    return (struct giving_back){
        .memory = memory_of(address, 0, kind),
        .address = address,
        .kind = kind,
        .call = call,
        .culprit = {call->api, call->site, NULL},
    };
}

/* Begins a call that frees or unregisters memory. No capture allows such a call, so from here on
 * the thread is in the relaxed capture mode (a permit, capture/permits.h) until the permit is
 * ended. */
static struct giving_back begin_free_of(void *address, enum sc_buffer_kind kind,
                                        const struct sc_call *call)
{
    struct giving_back giving = describe_giving(address, kind, call);
    sc_thread_stack_learn();
    sc_permit_begin(&giving.permit, call);
    return giving;
}

/* Returns a request to take the whole range away. `hold`: what happens if operations on it are in
 * flight: whether the library keeps the memory, or the call waits (reaper/deallocation.h). */
static struct sc_deallocation deallocation_of(const struct sc_range_info *range,
                                              enum sc_hold_kind hold)
{
    return (struct sc_deallocation){
        .address = range->address,
        .size_bytes = range->size_bytes,
        .hold = true,
        .kind = hold,
        .context = range->context,
    };
}

/* Makes the driver wait for the whole context, by registering and unregistering a page of the
 * library's: before it unregisters any page it waits, and in relaxed mode that wait breaks no
 * capture. Where no page can be registered, at the limit of page-locked memory, waits by
 * cuCtxSynchronize, unless a stream captures. Returns the driver's answer. */
static CUresult wait_by_unregistering(void)
{
    SC_RELAXED();
    SC_INSIDE();
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = sc_pages_map(page_bytes);
    CUresult result = CUDA_ERROR_NOT_READY;
    if (page && sc_real.cuMemHostRegister_v2 && sc_real.cuMemHostUnregister)
        result = sc_real.cuMemHostRegister_v2(page, page_bytes, 0);
    if (result == CUDA_SUCCESS)
        result = sc_real.cuMemHostUnregister(page);
    else {
        sc_capturing_wait_begins();
        if (!sc_captures_any_open())
            result = sc_real.cuCtxSynchronize();
        sc_capturing_wait_ends();
    }
    sc_pages_unmap(page, page_bytes);
    return result;
}

/* Returns what the program has to see of the driver's answer to a wait that the library has made:
 * the error of earlier work, which every later call returns. Errors that the library's own call may
 * have caused count as success. */
static CUresult failure_of_work(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_NOT_READY:
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED:
        return CUDA_SUCCESS;
    default:
        return sc_driver_is_capture_error(result) ? CUDA_SUCCESS : result;
    }
}

/* Waits for the context, as the driver's cuMemFreeHost does, since programs rely on that. Called if
 * the free is not made although nothing is in flight, since a graph uses the memory. A capture that
 * another thread begins meanwhile is not broken. Returns the error of earlier work. */
static CUresult wait_as_the_driver_does(const struct sc_call *call)
{
    struct sc_sync sync;
    sc_sync_begin_free(&sync, call);
    CUresult result = failure_of_work(sc_sync_end(&sync, wait_by_unregistering()));
    sc_reaper_give_back_pinned(sync.context);
    return sc_wrap_check_answer(call, result);
}

/* Notes in the ledger that the library keeps memory which the program has freed (a hold). The
 * library's thread may have freed it by now: then the ledger's entry is ended at once. */
static void book_held(const struct sc_deallocation *taken, const struct sc_range_info *range)
{
    if (!taken->held || !sc_booking_is_on())
        return;
    sc_ledger_hold(&sc_ledger, taken->held_age, range->size_bytes, range->origin);
    if (!SC_TRACKED(sc_holds_is_alive(track.holds, taken->held, taken->held_age)))
        sc_ledger_let_go(&sc_ledger, taken->held_age, 0);
}

/* Called before pinned memory is freed: if operations on it are in flight, reports them, and has
 * the library keep the memory and free it later. Returns true if so; false: the driver has to free
 * it now (and waits). The driver also does so if more than max_held is held already; if the context
 * is lost, since it would refuse a later free; and if pools have host memory, since allocations
 * from these would not wait for held memory. */
static bool defer_free(struct giving_back *giving, const struct sc_range_info *range)
{
    SC_DEALLOCATION taken = deallocation_of(range, SC_HOLD_FREE_PINNED);
    taken.hold = !sc_contexts_has_lost(range->context) &&
                 !atomic_load_explicit(&sc_booking_has_host_pools, memory_order_relaxed);
    if (!sc_deallocation_handle(&taken, SC105, &giving->culprit))
        return false;
    book_held(&taken, range);
    if (sc_deallocation_needs_no_wait(&taken)) /* nothing to be waited for is in flight */
        giving->result = wait_as_the_driver_does(giving->call);
    return true;
}

/* A call that frees or unregisters memory: the driver's, or sc_pinned_free. */
typedef CUresult give_back_function(void *address);

/* Frees or unregisters the memory. What the driver calls of libc meanwhile counts as the library's
 * own, so hooks (of free, munmap) let it pass. */
static CUresult call_inside(give_back_function *give_back, void *address)
{
    SC_INSIDE();
    return give_back(address);
}

/* Frees or unregisters the memory now. The driver waits for the context before it does, so all work
 * there is known done afterwards. The range is removed before the call, since another thread may
 * get the memory before it returns, and added again if the driver refuses. Returns the driver's
 * answer. */
static CUresult call_driver_now(struct giving_back *giving, const struct sc_range_info *range,
                                give_back_function *give_back)
{
    struct sc_sync sync;
    sc_sync_begin_free(&sync, giving->call);
    if (range->range)
        SC_TRACKED(sc_inflight_remove_range_at(track.inflight, range->address));
    sc_guard_apply(SC_GUARD_ALL);
    sc_memory_leaves(giving->call, &giving->memory);
    CUresult result = sc_wrap_check_answer(giving->call, call_inside(give_back, giving->address));
    sc_permit_end(&giving->permit, result);
    sc_memory_left(&giving->memory, sc_memory_is_taken(result));
    if (result == CUDA_SUCCESS)
        sc_recently_freed(giving->call->api, giving->call->site, (uintptr_t)giving->address,
                          range->range ? range->size_bytes : 0);
    if (range->range && result != CUDA_SUCCESS)
        sc_track_add_range(&sc_track, range->address, range->size_bytes, range->kind,
                           range->context, range->origin);
    sc_sync_end(&sync, result);
    sc_reaper_give_back_pinned(sync.context);
    return result;
}

/* Returns the range that the call frees: it begins at the address, and was made by the opposite
 * call. Else returns one with `range` 0. */
static struct sc_range_info range_of(const struct giving_back *giving)
{
    struct sc_range_info range = {0};
    if (sc_active() && giving->address)
        range = sc_track_find_range(&sc_track, (uintptr_t)giving->address);
    if (range.address != (uintptr_t)giving->address || range.kind != giving->kind)
        range.range = 0;
    return range;
}

/* Decides, before a free, whether the library may keep the memory (hold it). Not if the memory is
 * not known, or if the driver will refuse the call: without a current context, or because of a
 * capture. Then what is in flight there is only reported, since the program's mistake is the
 * same. */
static bool may_hold_or_report(const struct giving_back *giving, const struct sc_range_info *range,
                               enum sc_hazard_code code)
{
    SC_DEALLOCATION taken = {.address = range->address, .size_bytes = range->size_bytes};
    if (!range->range || (sc_contexts_of_memory() && !sc_permit_is_refused(&giving->permit)))
        return range->range;
    SC_TRACKED(
        sc_inflight_find_in(track.inflight, range->address, range->size_bytes, &taken.found));
    sc_deallocation_report(&taken, code, &giving->culprit);
    return false;
}

/* Tells the ledger, for a free that came through no wrapper, that the program has given the memory
 * back, whatever the driver has still to do. */
static void book_as_left(const struct giving_back *giving)
{
    sc_memory_leaves(giving->call, &giving->memory);
    sc_memory_left(&giving->memory, /*taken=*/true);
}

/* If the driver is not called for this free (`kept`), ends its permit (the relaxed capture mode)
 * here: while a stream captures, the driver would have refused the call, and that is reported.
 * Returns `kept`. */
static bool end_permit_if(struct giving_back *giving, bool kept)
{
    if (kept)
        sc_permit_end(&giving->permit, CUDA_SUCCESS);
    return kept;
}

/* Keeps memory that the program gives back, if it has to be kept: defer_free or keep_registered. */
typedef bool keep_function(struct giving_back *giving, const struct sc_range_info *range);

/* Called before the driver's call: has `keep` keep the memory if work in flight or a graph uses it,
 * and returns whether it does; the driver is then not called. The ledger is told before: the
 * library's thread may free the memory, and another thread get it, before `keep` returns. */
static bool try_to_keep(struct giving_back *giving, const struct sc_range_info *range,
                        keep_function *keep)
{
    sc_memory_leaves(giving->call, &giving->memory);
    bool held = keep(giving, range);
    sc_memory_left(&giving->memory, held);
    return end_permit_if(giving, held);
}

/* Has the program freed this pinned memory before, and does the library still keep it? The driver
 * would refuse the second free, so the wrapper does. */
static bool was_freed(const struct giving_back *giving, const struct sc_range_info *range)
{
    return !range->range && sc_active() && giving->address &&
           sc_track_is_held(&sc_track, (uintptr_t)giving->address, 1,
                            SC_HOLDS_FREED | SC_HOLDS_STARTING);
}

/* Frees pinned memory: keeps it if it is in flight, else passes the call on. */
CUresult cuMemFreeHost(void *address)
{
    SC_WRAPPER(cuMemFreeHost);
    if (!address)
        return SC_PERMITTED(real(NULL));
    struct giving_back giving = begin_free_of(address, SC_PINNED, call);
    struct sc_range_info range = range_of(&giving);
    if (may_hold_or_report(&giving, &range, SC105) && try_to_keep(&giving, &range, defer_free))
        return giving.result;
    if (end_permit_if(&giving, was_freed(&giving, &range)))
        return CUDA_ERROR_INVALID_VALUE;
    return call_driver_now(&giving, &range, sc_pinned_free);
}

/* Before a call that came through no wrapper and gives the memory back: reports what is in flight
 * there, in mode=fix waits for it (the memory cannot be kept, since the driver makes the call), and
 * removes the range. */
static void begin_unwrapped_free(void *address, enum sc_buffer_kind kind,
                                 const struct sc_call *call)
{
    struct giving_back giving = describe_giving(address, kind, call);
    struct sc_range_info range = range_of(&giving);
    book_as_left(&giving);
    if (!range.range)
        return;
    SC_DEALLOCATION taken = deallocation_of(&range, SC_HOLD_WAIT);
    sc_deallocation_handle(&taken, kind == SC_PINNED ? SC105 : SC103, &giving.culprit);
    sc_deallocation_note_for_graphs(range.address, range.size_bytes, kind == SC_REGISTERED, false,
                                    &giving.culprit);
    SC_TRACKED(sc_inflight_remove_range_at(track.inflight, range.address));
    sc_guard_apply(SC_GUARD_ALL);
}

void sc_host_memory_note_free(void *address, enum sc_buffer_kind kind, const struct sc_call *call)
{
    struct sc_sync sync;
    if (sc_replaying_prepares())
        begin_unwrapped_free(address, kind, call);
    if (!address || sc_replaying_prepares())
        return; /* a free of NULL waits for nothing */
    sc_sync_begin_free(&sync, call);
    sc_sync_end(&sync, sc_replaying_answer());
}

/* Called before memory is unregistered: waits for operations on it, since the program may use it at
 * once, and keeps it registered if a graph uses it. Otherwise the graph's next launch would fail,
 * and the context be lost. Returns whether it is kept. The registration ends within a later wait of
 * the program's, when no graph uses the memory any more, or before the program uses it for
 * something else (sc_reaper_end_registrations). */
static bool keep_registered(struct giving_back *giving, const struct sc_range_info *range)
{
    SC_DEALLOCATION waited = deallocation_of(range, SC_HOLD_WAIT);
    SC_DEALLOCATION kept = deallocation_of(range, SC_HOLD_UNREGISTER);
    sc_deallocation_handle(&waited, SC103, &giving->culprit);
    if (!sc_track_graph_names(&sc_track, range->address, range->size_bytes, /*unregistered=*/true))
        return false;
    sc_deallocation_search(&kept, &giving->culprit);
    if (!kept.held)
        return false;
    giving->result = wait_as_the_driver_does(giving->call);
    return true;
}

/* Ends a registration. To the program one that is kept for a graph is gone (`is_gone`), and pinned
 * memory that the library has served is the driver's: both get the driver's error. */
CUresult cuMemHostUnregister(void *address)
{
    SC_WRAPPER(cuMemHostUnregister);
    bool is_gone =
        sc_active() && sc_track_is_held(&sc_track, (uintptr_t)address, 1, SC_HOLDS_DRIVERS);
    if (!is_gone && sc_pinned_end((uintptr_t)address))
        return CUDA_ERROR_INVALID_VALUE;
    struct giving_back giving = begin_free_of(address, SC_REGISTERED, call);
    struct sc_range_info range = range_of(&giving);
    if (may_hold_or_report(&giving, &range, SC103) && try_to_keep(&giving, &range, keep_registered))
        return giving.result;
    if (end_permit_if(&giving, is_gone))
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    return call_driver_now(&giving, &range, real);
}

/* Is it memory of cuMemAllocAsync? To free such memory by cuMemFree waits for nothing
 * (docs/driver.md, Frees). */
static bool is_of_pool(CUdeviceptr address)
{
    CUmemoryPool pool = NULL;
    return sc_active() && sc_real.cuPointerGetAttribute &&
           sc_real.cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address) ==
               CUDA_SUCCESS &&
           pool;
}

/* A free of device memory. */
struct device_free {
    struct sc_allocation allocation;
    bool waits; /* the driver waits for the context; a free that waits for nothing is judged */
};

/* Called before cuMemFree, and again behind it in a replay (of a call that came through no
 * wrapper): notes the device memory that goes. A free of pool memory waits for nothing, so it is
 * compared with what is in flight there (SC502), before the driver's call alone; for other memory
 * the driver waits itself. */
static struct device_free begin_device_free(const struct sc_call *call, CUdeviceptr address)
{
    /* What the first run of a replay has found: at the second the driver may not know the address.
     */
    static __thread struct {
        CUdeviceptr address;
        bool waits;
    } prepared;
    bool is_known = sc_replaying_follows() && prepared.address == address;
    const struct sc_memory memory = memory_of((void *)(uintptr_t)address, 0, SC_MANAGED);
    sc_memory_leaves(call, &memory);
    struct device_free freeing = {
        .allocation = sc_device_memory_leaves(address),
        .waits = is_known ? prepared.waits : !is_of_pool(address),
    };
    if (!freeing.waits && !sc_replaying_follows() && freeing.allocation.size_bytes &&
        sc_track_watches_device(&sc_track))
        sc_device_uses_judge_free(call, NULL, &freeing.allocation);
    prepared.address = address;
    prepared.waits = freeing.waits;
    return freeing;
}

/* Frees device or managed memory. Managed memory is forgotten before the driver's call, since the
 * driver may hand its address out again at once; sources of copies there are compared before, while
 * the bytes exist. A replay before the driver's call only notes what goes: it runs again behind it.
 */
CUresult cuMemFree_v2(CUdeviceptr address)
{
    SC_WRAPPER(cuMemFree_v2);
    if (sc_unlikely(sc_replaying_prepares())) {
        begin_device_free(call, address);
        return real(address);
    }
    if (!address)
        return SC_PERMITTED(real(address));
    struct giving_back giving = begin_free_of((void *)(uintptr_t)address, SC_MANAGED, call);
    struct sc_range_info range = range_of(&giving);
    struct device_free freeing = begin_device_free(call, address);
    struct sc_sync sync;
    (freeing.waits ? sc_sync_begin_free : sc_sync_begin_nothing)(&sync, call);
    if (range.range) {
        sc_managed_leaves(address);
        sc_issue_seal(call, range.address, range.size_bytes);
        SC_TRACKED(sc_inflight_remove_range_at(track.inflight, range.address));
    }
    CUresult result = sc_permit_end(&giving.permit, real(address));
    sc_memory_left(&giving.memory, sc_memory_is_taken(result));
    sc_device_memory_left(&freeing.allocation, result == CUDA_SUCCESS);
    if (result == CUDA_SUCCESS)
        sc_recently_freed(call->api, call->site, address, range.range ? range.size_bytes : 0);
    if (range.range && result != CUDA_SUCCESS)
        sc_track_add_range(&sc_track, range.address, range.size_bytes, range.kind, range.context,
                           range.origin);
    sc_sync_end(&sync, result);
    sc_reaper_give_back_pinned(sync.context);
    return result;
}

/* Pinned, registered and managed memory comes and goes.
 *
 * Freeing pinned memory and unregistering make the driver wait for the whole context. Correct
 * programs lean on that, so with nothing in flight on the buffer the call passes through. Pinned
 * memory freed in flight is held and the call returns at once. Memory unregistered in flight stays
 * with the program, which may read or overwrite it as soon as the call returns: there the call
 * waits for the operations on it, by an event and not by a wait that nobody promises.
 */
#include <unistd.h>

#include "common/hazard_words.h"
#include "common/now.h"
#include "common/op_kinds.h"
#include "common/own_pages.h"
#include "common/pages.h"
#include "interpose/base/compiler.h"
#include "interpose/base/own_stack.h"
#include "interpose/base/process.h"
#include "interpose/base/recently.h"
#include "interpose/calls/device_memory.h"
#include "interpose/calls/device_uses.h"
#include "interpose/calls/host_memory.h"
#include "interpose/calls/issue.h"
#include "interpose/calls/memory.h"
#include "interpose/calls/sync.h"
#include "interpose/capture/captures.h"
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
#include "interpose/memory/pinned.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/reaper.h"
#include "interpose/reaper/take_down.h"
#include "interpose/streams/contexts.h"
#include "ledger/ledger.h"
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

/* `call` made the memory. */
static void add_range(const void *address, size_t size_bytes, enum sc_buffer_kind kind,
                      const struct sc_call *call)
{
    SC_KEEP_ERRNO();
    const struct sc_memory memory = memory_of(address, size_bytes, kind);
    sc_memory_given(call, &memory);
    struct sc_context *context = sc_active() ? sc_contexts_of_memory() : NULL;
    if (context && address && kind != SC_REGISTERED) {
        sc_track_handed_out(&sc_track, (uintptr_t)address, size_bytes, false);
        sc_guard_apply(SC_GUARD_ALL);
    }
    if (context && address) {
        sc_track_add_range(&sc_track, (uintptr_t)address, size_bytes, kind, context->legacy,
                           sc_made_here(call));
        sc_guard_pin((uintptr_t)address, size_bytes, kind);
    }
}

/* Memory that the program maps for kernels may be written by them at any time; write-combined
 * memory is not made to be read. */
void sc_host_memory_pinned(const void *address, size_t bytes, unsigned flags,
                           const struct sc_call *call)
{
    add_range(address, bytes, SC_PINNED, call);
    if (flags & (CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED))
        SC_TRACKED(sc_guarded_limit_snapshots(track.inflight, (uintptr_t)address, bytes,
                                              SC_SNAPSHOTS_NONE));
}

/* Where the device does not let the host touch managed memory while it works, to read a source
 * would be a fault of the program's. */
void sc_host_memory_managed(CUdeviceptr address, size_t bytes, const struct sc_call *call)
{
    const void *memory = (const void *)(uintptr_t)address;
    const struct sc_context *context = sc_active() ? sc_contexts_of_memory() : NULL;
    add_range(memory, bytes, SC_MANAGED, call);
    sc_managed_given(call, address, bytes, context);
    if (context && !context->shares_managed)
        SC_TRACKED(sc_guarded_limit_snapshots(track.inflight, (uintptr_t)memory, bytes,
                                              SC_SNAPSHOTS_NONE));
}

void sc_host_memory_registered(const void *address, size_t bytes, unsigned flags,
                               const struct sc_call *call)
{
    SC_TRACKED(sc_graphs_note_registered(track.graphs, (uintptr_t)address, bytes));
    add_range(address, bytes, SC_REGISTERED, call);
    if (flags & CU_MEMHOSTREGISTER_DEVICEMAP)
        SC_TRACKED(sc_guarded_limit_snapshots(track.inflight, (uintptr_t)address, bytes,
                                              SC_SNAPSHOTS_NONE));
    if (flags & (CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY))
        SC_TRACKED(
            sc_guarded_set(track.inflight, (uintptr_t)address, bytes, SC_GUARDING_FORBIDDEN));
}

static CUresult tell_refused(const struct sc_call *call, size_t bytes, enum sc_buffer_kind kind,
                             CUresult result)
{
    const struct sc_memory memory = memory_of(NULL, bytes, kind);
    sc_memory_refused(call, &memory, result);
    return result;
}

/* ---- held memory is in the way ---- */

enum { LET_GO_NS = 100 * 1000 * 1000 };

static bool is_any_held(void)
{
    return sc_track_has(&sc_track, SC_HAS_HOLDS) &&
           sc_track_is_held(&sc_track, 0, SIZE_MAX, SC_HOLDS_DRIVERS);
}

/* False: some is held still, for a graph maybe. */
static bool await_held(const struct sc_context *context, uint64_t until_ns)
{
    sc_reaper_give_back_pinned(context);
    while (is_any_held() && sc_now_ns() < until_ns && !sc_reaper_has_stopped()) {
        sc_reaper_sleep(sc_reaper_round(), until_ns);
        sc_reaper_give_back_pinned(context);
    }
    return !is_any_held();
}

/* What was freed in flight, and is held, is the driver's in a process without the library, since
 * the free waits there. So a call that fails for want of memory is made once more when that has
 * gone back. Where it was waited for in vain it is not waited for again. */
static bool gave_back_held(CUresult result)
{
    static _Atomic bool is_in_vain;
    if (sc_likely(result != CUDA_ERROR_OUT_OF_MEMORY) || !sc_active() || sc_captures_any_open() ||
        !is_any_held())
        return false;
    SC_KEEP_ERRNO();
    uint64_t longest_ns =
        sc_options.stall_limit_ns < LET_GO_NS ? sc_options.stall_limit_ns : LET_GO_NS;
    uint64_t until_ns = atomic_load(&is_in_vain) ? 0 : sc_now_ns() + longest_ns;
    atomic_store(&is_in_vain, !await_held(sc_contexts_of_memory(), until_ns));
    sc_ledger_settled(&sc_ledger);
    return true;
}

/* From huge pages, where that is as good as the driver's. Not where the driver would refuse. */
static bool serve(void **address, size_t bytes, unsigned flags, const struct sc_call *call)
{
    if (!address || sc_captures_any_open())
        return false;
    struct sc_relaxed relaxed = sc_relaxed_begin(); /* a capture may begin meanwhile */
    void *ours = sc_pinned_take(bytes, flags);
    sc_relaxed_end(&relaxed);
    if (!ours)
        return false;
    *address = ours;
    sc_host_memory_pinned(ours, bytes, flags, call);
    return true;
}

#define PINS(symbol, parameters, arguments, flags, served)                                         \
    CUresult symbol parameters                                                                     \
    {                                                                                              \
        SC_WRAPPER(symbol);                                                                        \
        if (served)                                                                                \
            return CUDA_SUCCESS;                                                                   \
        CUresult result = SC_PERMITTED(real arguments);                                            \
        if (gave_back_held(result))                                                                \
            result = SC_PERMITTED(real arguments);                                                 \
        if (result == CUDA_SUCCESS)                                                                \
            sc_host_memory_pinned(*address, bytes, flags, call);                                   \
        return tell_refused(call, bytes, SC_PINNED, result);                                       \
    }

PINS(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags), (address, bytes, flags), flags,
     serve(address, bytes, flags, call))
PINS(cuMemAllocHost_v2, (void **address, size_t bytes), (address, bytes), 0,
     serve(address, bytes, 0, call))
/* The one function from before CUDA 3.2 that has nothing to do with 32-bit device addresses. The
 * driver decides what it does. */
PINS(cuMemAllocHost, (void **address, unsigned bytes), (address, bytes), 0, false)

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags)
{
    SC_WRAPPER(cuMemAllocManaged);
    CUresult result = SC_PERMITTED(real(address, bytes, flags));
    if (result == CUDA_SUCCESS)
        sc_host_memory_managed(*address, bytes, call);
    return tell_refused(call, bytes, SC_MANAGED, result);
}

/* A registration over memory whose free is held settles that first. */
static void settle(const void *address, size_t bytes)
{
    sc_guard_unprotect(address, bytes); /* the driver could not pin protected pages */
    if (sc_active() && sc_track_is_held(&sc_track, (uintptr_t)address, bytes, SC_HOLDS_REAPERS))
        sc_reaper_settle((uintptr_t)address, bytes, "cuMemHostRegister");
    if (sc_active() &&
        sc_track_is_held(&sc_track, (uintptr_t)address, bytes, SC_HOLDS_UNREGISTERED)) {
        SC_TRACKED(sc_holds_forget_graphs(track.holds, (uintptr_t)address, bytes));
        sc_reaper_give_back_pinned(sc_contexts_of_memory());
    }
}

/* False: the memory is of our own pages, which the driver refuses in its own. */
static bool may_be_registered(const void *address, size_t bytes)
{
    settle(address, bytes);
    return !sc_pinned_overlaps((uintptr_t)address, bytes);
}

SC_VERSIONS(cuMemHostRegister, cuMemHostRegister_v2, (void *address, size_t bytes, unsigned flags),
            (address, bytes, flags))
{
    if (!may_be_registered(address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = SC_PERMITTED(real(address, bytes, flags));
    if (gave_back_held(result))
        result = SC_PERMITTED(real(address, bytes, flags));
    if (result == CUDA_SUCCESS)
        sc_host_memory_registered(address, bytes, flags, call);
    return tell_refused(call, bytes, SC_REGISTERED, result);
}

struct giving_back {
    struct sc_memory memory;
    void *address;
    enum sc_buffer_kind kind;
    const struct sc_call *call;
    struct sc_culprit culprit;
    struct sc_permit permit;
    CUresult result; /* where the memory is kept back */
};

static struct giving_back giving_of(void *address, enum sc_buffer_kind kind,
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

/* Names the call, and asks leave for it of what captures. */
static struct giving_back begin(void *address, enum sc_buffer_kind kind, const struct sc_call *call)
{
    struct giving_back giving = giving_of(address, kind, call);
    sc_own_stack_learn();
    sc_permit_begin(&giving.permit, call);
    return giving;
}

static struct sc_take_down take_down(const struct sc_range_info *range, enum sc_hold_kind hold)
{
    return (struct sc_take_down){
        .address = range->address,
        .size_bytes = range->size_bytes,
        .hold = true,
        .kind = hold,
        .context = range->context,
    };
}

/* The driver waits for the context before it unregisters any page of it, also under relaxed mode:
 * a wait that breaks no capture. */
static CUresult wait_by_unregistering(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static void *page;
    struct sc_relaxed relaxed = sc_relaxed_begin();
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    pthread_mutex_lock(&lock);
    page = page ? page : sc_pages_map(page_bytes);
    SC_INSIDE();
    CUresult result = CUDA_ERROR_NOT_READY;
    if (page && sc_real.cuMemHostRegister_v2 && sc_real.cuMemHostUnregister)
        result = sc_real.cuMemHostRegister_v2(page, page_bytes, 0);
    if (result == CUDA_SUCCESS)
        result = sc_real.cuMemHostUnregister(page);
    pthread_mutex_unlock(&lock);
    sc_relaxed_end(&relaxed);
    return result;
}

/* What work that failed makes every call return, and not what is wrong with a call of ours. */
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

/* Kept for a graph alone: cuMemFreeHost waits for the context, and programs lean on that. A wait
 * for the context as a whole would break a capture in it, and leaves out the primary one where a
 * green one is current. */
static CUresult wait_as_the_driver_does(const struct sc_call *call)
{
    if (!sc_captures_any_open() && sc_contexts_of_memory() == sc_contexts_current())
        return sc_wrap_answered(call, failure_of_work(sc_sync_context(call)));
    struct sc_sync sync;
    sc_sync_begin_free(&sync, call);
    return sc_wrap_answered(call, failure_of_work(sc_sync_end(&sync, wait_by_unregistering())));
}

/* Another thread may give it back at once. */
static void tell_held(const struct sc_take_down *taken, const struct sc_range_info *range)
{
    if (!taken->held || !sc_booking_is_on())
        return;
    sc_ledger_hold(&sc_ledger, taken->held_age, range->size_bytes, range->origin);
    if (!SC_TRACKED(sc_holds_lives(track.holds, taken->held, taken->held_age)))
        sc_ledger_let_go(&sc_ledger, taken->held_age, 0);
}

/* True: in flight, and held. False: the driver frees it now; past max_held its own wait is the
 * back-pressure. */
static bool free_is_deferred(struct giving_back *giving, const struct sc_range_info *range)
{
    SC_TAKE_DOWN taken = take_down(range, SC_HOLD_FREE_PINNED);
    taken.hold = !sc_contexts_has_lost(range->context); /* the driver refuses it */
    if (!sc_take_down_make(&taken, SC105, &giving->culprit))
        return false;
    tell_held(&taken, range);
    if (sc_take_down_passes(&taken))
        giving->result = wait_as_the_driver_does(giving->call);
    return true;
}

typedef CUresult give_back_function(void *address);

static CUresult give_back_inside(give_back_function *give_back, void *address)
{
    SC_INSIDE();
    return give_back(address);
}

/* Waits for the context as the driver does, and forgets the range unless the driver refuses. */
static CUresult give_back_now(struct giving_back *giving, const struct sc_range_info *range,
                              give_back_function *give_back)
{
    struct sc_sync sync;
    sc_sync_begin_free(&sync, giving->call);
    if (range->range)
        SC_TRACKED(sc_inflight_remove_range_at(track.inflight, range->address));
    sc_guard_apply(SC_GUARD_ALL);
    sc_memory_leaves(giving->call, &giving->memory);
    CUresult result = sc_wrap_answered(giving->call, give_back_inside(give_back, giving->address));
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

/* The range that the call is about: it starts at the address, and was made by the opposite call. */
static struct sc_range_info range_of(const struct giving_back *giving)
{
    struct sc_range_info range = {0};
    if (sc_active() && giving->address)
        range = sc_track_find_range(&sc_track, (uintptr_t)giving->address);
    if (range.address != (uintptr_t)giving->address || range.kind != giving->kind)
        range.range = 0;
    return range;
}

/* False: the driver will refuse the call, and gives nothing back. */
static bool may_keep(const struct giving_back *giving, const struct sc_range_info *range,
                     enum sc_hazard_code code)
{
    SC_TAKE_DOWN taken = {.address = range->address, .size_bytes = range->size_bytes};
    if (!range->range || !sc_permit_is_refused(&giving->permit))
        return range->range;
    SC_TRACKED(sc_inflight_list(track.inflight, range->address, range->size_bytes, &taken.found));
    sc_take_down_report(&taken, code, &giving->culprit);
    return false;
}

/* The program has given it back, whatever the driver has still to do. */
static void tell_left(const struct giving_back *giving)
{
    sc_memory_leaves(giving->call, &giving->memory);
    sc_memory_left(&giving->memory, true);
}

/* Whether the memory was kept back. The driver is not asked then, which would not have permitted
 * the call while something captures. */
static bool end_kept(struct giving_back *giving, bool kept)
{
    if (kept)
        sc_permit_end(&giving->permit, CUDA_SUCCESS);
    return kept;
}

typedef bool keep_function(struct giving_back *giving, const struct sc_range_info *range);

/* What is held may go back, and be another thread's, before `keep` returns: it counts as the
 * program's no more from before that on. */
static bool is_held(struct giving_back *giving, const struct sc_range_info *range,
                    keep_function *keep)
{
    sc_memory_leaves(giving->call, &giving->memory);
    bool held = keep(giving, range);
    sc_memory_left(&giving->memory, held);
    return end_kept(giving, held);
}

static bool was_freed(const struct giving_back *giving, const struct sc_range_info *range)
{
    return !range->range && sc_active() && giving->address &&
           sc_track_is_held(&sc_track, (uintptr_t)giving->address, 1,
                            SC_HOLDS_FREED | SC_HOLDS_STARTING);
}

CUresult cuMemFreeHost(void *address)
{
    SC_WRAPPER(cuMemFreeHost);
    if (!address)
        return SC_PERMITTED(real(NULL));
    struct giving_back giving = begin(address, SC_PINNED, call);
    struct sc_range_info range = range_of(&giving);
    if (may_keep(&giving, &range, SC105) && is_held(&giving, &range, free_is_deferred))
        return giving.result;
    if (end_kept(&giving, was_freed(&giving, &range)))
        return CUDA_ERROR_INVALID_VALUE;
    return give_back_now(&giving, &range, sc_pinned_free);
}

void sc_host_memory_leaves(void *address, enum sc_buffer_kind kind, const struct sc_call *call)
{
    struct giving_back giving = giving_of(address, kind, call);
    struct sc_range_info range = range_of(&giving);
    tell_left(&giving);
    if (!range.range)
        return;
    SC_TAKE_DOWN taken = take_down(&range, SC_HOLD_WAIT);
    sc_take_down_make(&taken, kind == SC_PINNED ? SC105 : SC103, &giving.culprit);
    sc_take_down_tell_graphs(range.address, range.size_bytes, kind == SC_REGISTERED,
                             &giving.culprit);
    SC_TRACKED(sc_inflight_remove_range_at(track.inflight, range.address));
    sc_guard_apply(SC_GUARD_ALL);
}

/* A launch whose memory is not registered any more fails, and takes the context with it. The
 * registration stays for as long as a graph names the memory; it ends inside the program's own
 * waits, as frees of pinned memory do. */
static bool unregister_is_kept(struct giving_back *giving, const struct sc_range_info *range)
{
    SC_TAKE_DOWN waited = take_down(range, SC_HOLD_WAIT);
    SC_TAKE_DOWN kept = take_down(range, SC_HOLD_UNREGISTER);
    sc_take_down_make(&waited, SC103, &giving->culprit);
    if (!sc_track_graph_names(&sc_track, range->address, range->size_bytes))
        return false;
    sc_take_down_ask(&kept, &giving->culprit);
    if (!kept.held)
        return false;
    giving->result = wait_as_the_driver_does(giving->call);
    return true;
}

CUresult cuMemHostUnregister(void *address)
{
    SC_WRAPPER(cuMemHostUnregister);
    bool is_gone =
        sc_active() && sc_track_is_held(&sc_track, (uintptr_t)address, 1, SC_HOLDS_DRIVERS);
    if (!is_gone && sc_pinned_end((uintptr_t)address))
        return CUDA_ERROR_INVALID_VALUE;
    struct giving_back giving = begin(address, SC_REGISTERED, call);
    struct sc_range_info range = range_of(&giving);
    if (may_keep(&giving, &range, SC103) && is_held(&giving, &range, unregister_is_kept))
        return giving.result;
    if (end_kept(&giving, is_gone))
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    return give_back_now(&giving, &range, real);
}

/* Memory of cuMemAllocAsync, whose free waits for nothing (docs/driver.md, Frees). */
static bool is_of_pool(CUdeviceptr address)
{
    CUmemoryPool pool = NULL;
    return sc_active() && sc_real.cuPointerGetAttribute &&
           sc_real.cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address) ==
               CUDA_SUCCESS &&
           pool;
}

/* A free of device memory. One that waits for nothing is judged. */
struct device_free {
    struct sc_allocation allocation;
    bool waits;
};

static struct device_free begin_device_free(const struct sc_call *call, CUdeviceptr address)
{
    static __thread struct {
        CUdeviceptr address;
        bool waits;
    } prepared; /* behind the call the driver may not know it any more */
    bool is_known = sc_replaying_follows() && prepared.address == address;
    const struct sc_memory memory = memory_of((void *)(uintptr_t)address, 0, SC_MANAGED);
    sc_memory_leaves(call, &memory);
    struct device_free freeing = {
        .allocation = sc_device_memory_leaves(address),
        .waits = is_known ? prepared.waits : !is_of_pool(address),
    };
    if (!freeing.waits && !sc_replaying_follows() && freeing.allocation.size_bytes &&
        sc_track_watches_device(&sc_track))
        sc_device_uses_judge_free(call, &freeing.allocation);
    prepared.address = address;
    prepared.waits = freeing.waits;
    return freeing;
}

/* Managed memory is forgotten before the driver could hand its address out again. Sources in it are
 * compared while they are there. */
CUresult cuMemFree_v2(CUdeviceptr address)
{
    SC_WRAPPER(cuMemFree_v2);
    if (sc_unlikely(sc_replaying_prepares())) {
        begin_device_free(call, address);
        return real(address);
    }
    if (!address)
        return SC_PERMITTED(real(address));
    struct giving_back giving = begin((void *)(uintptr_t)address, SC_MANAGED, call);
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

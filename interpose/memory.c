/* Pinned, registered and managed memory comes and goes; contexts end.
 *
 * Freeing pinned memory and unregistering make the driver wait for the whole context. Correct programs
 * lean on that, so with nothing in flight on the buffer the call passes through; with something in
 * flight it returns at once and the memory is held.
 */
#include <errno.h>

#include "interpose/hazards.h"
#include "interpose/process.h"
#include "interpose/reaper.h"
#include "interpose/streams.h"
#include "interpose/sync.h"
#include "interpose/wrap.h"

#include "track/poison.h"

static void add_range(const void *address, size_t size_bytes, enum sc_buffer_kind kind)
{
    int saved = errno;
    struct sc_context *context = sc_active() ? sc_streams_current_context() : NULL;
    if (context && address)
        sc_track_add_range(&sc_track, (uintptr_t)address, size_bytes, kind, context->legacy);
    errno = saved;
}

SC_DEFINE(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags),
          CUresult result = REAL(address, bytes, flags);
          if (result == CUDA_SUCCESS) add_range(*address, bytes, SC_PINNED);
          return result;)

SC_DEFINE(cuMemAllocHost_v2, (void **address, size_t bytes),
          CUresult result = REAL(address, bytes);
          if (result == CUDA_SUCCESS) add_range(*address, bytes, SC_PINNED);
          return result;)

SC_DEFINE(cuMemAllocManaged, (CUdeviceptr * address, size_t bytes, unsigned flags),
          CUresult result = REAL(address, bytes, flags);
          if (result == CUDA_SUCCESS)
              add_range((void *)(uintptr_t)*address, bytes, SC_MANAGED);
          return result;)

/* A registration over memory whose unregistration or free is held settles that first. */
static void settle(const void *address, size_t bytes)
{
    if (sc_active() && sc_track_is_held(&sc_track, (uintptr_t)address, bytes))
        sc_reaper_settle((uintptr_t)address, bytes);
}

#define REGISTER(symbol)                                                                           \
    SC_DEFINE(symbol, (void *address, size_t bytes, unsigned flags), settle(address, bytes);       \
              CUresult result = REAL(address, bytes, flags);                                       \
              if (result == CUDA_SUCCESS) add_range(address, bytes, SC_REGISTERED);                \
              return result;)

REGISTER(cuMemHostRegister)
REGISTER(cuMemHostRegister_v2)

struct giving_back {
    void *address;
    enum sc_hold_kind hold;
    enum sc_hazard_code code;
    enum sc_buffer_kind kind;
    struct sc_culprit culprit;
};

/* True: in flight, and held. False: the driver does it now. */
static bool is_deferred(const struct giving_back *giving, const struct sc_range_info *range)
{
    struct sc_take_down request = {
        .address = range->address,
        .size_bytes = range->size_bytes,
        .hold = sc_options.mode == SC_MODE_FIX,
        .kind = giving->hold,
        .context = range->context,
        .max_held_bytes = sc_options.max_held_bytes,
    };
    struct sc_buffer buffer = {range->address, range->size_bytes};
    sc_track_take_down(&sc_track, &request);
    /* Past max_held the driver's own wait is the back-pressure. */
    enum sc_action action = request.held        ? SC_ACTION_DEFERRED
                            : request.must_wait ? SC_ACTION_STALLED
                                                : SC_ACTION_REPORTED;
    if (request.must_wait)
        sc_track_in_flight(&sc_track, range->address, range->size_bytes, &request.found);
    sc_hazards_report(giving->code, action, &request.found, &buffer, &giving->culprit);
    if (request.held) {
        sc_track_remove_range(&sc_track, range->address);
        sc_reaper_wake();
    }
    return request.held != 0;
}

/* What the driver says of memory that it has been told to give back already. */
static CUresult result_if_held(const struct giving_back *giving)
{
    if (!sc_track_has_holds(&sc_track))
        return CUDA_SUCCESS;
    if (giving->hold == SC_HOLD_FREE_PINNED &&
        sc_track_is_freed(&sc_track, (uintptr_t)giving->address))
        return CUDA_ERROR_INVALID_VALUE;
    if (giving->hold == SC_HOLD_UNREGISTER &&
        sc_track_is_unregistered(&sc_track, (uintptr_t)giving->address))
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    return CUDA_SUCCESS;
}

static CUresult give_back(const struct giving_back *giving, CUresult (*real)(void *address))
{
    if (!sc_active() || !giving->address)
        return real(giving->address);
    int saved = errno;
    CUresult held = result_if_held(giving);
    if (held != CUDA_SUCCESS)
        return held;
    struct sc_range_info range = sc_track_find_range(&sc_track, (uintptr_t)giving->address);
    bool ours = range.range && range.address == (uintptr_t)giving->address &&
                range.kind == giving->kind;
    if (ours && is_deferred(giving, &range)) {
        errno = saved;
        return CUDA_SUCCESS;
    }
    struct sc_sync sync = sc_sync_begin_context(NULL);
    if (ours)
        sc_track_remove_range(&sc_track, range.address);
    errno = saved;
    sc_inside++;
    CUresult result = real(giving->address);
    sc_inside--;
    if (ours && result != CUDA_SUCCESS)
        sc_track_add_range(&sc_track, range.address, range.size_bytes, range.kind, range.context);
    return sc_sync_end(&sync, result);
}

SC_DEFINE(cuMemFreeHost, (void *address),
          return give_back(&(struct giving_back){address, SC_HOLD_FREE_PINNED, SC105, SC_PINNED,
                                                 {API, SC_SITE()}},
                           REAL);)

SC_DEFINE(cuMemHostUnregister, (void *address),
          return give_back(&(struct giving_back){address, SC_HOLD_UNREGISTER, SC103,
                                                 SC_REGISTERED, {API, SC_SITE()}},
                           REAL);)

SC_DEFINE(cuMemFree_v2, (CUdeviceptr address), struct sc_sync sync = sc_sync_begin_context(NULL);
          CUresult result = sc_sync_end(&sync, REAL(address));
          if (result == CUDA_SUCCESS && sc_active() && address)
              sc_track_remove_range(&sc_track, (uintptr_t)address);
          return result;)

/* ---- contexts: destroying one completes its work first (docs/gpu-results.md, Q13) ---- */

#define CONTEXT_END(symbol, parameter, argument, handle)                                           \
    SC_DEFINE(symbol, (parameter), CUcontext ending = sc_active() ? handle : NULL;                 \
              CUresult result = REAL(argument);                                                    \
              if (result == CUDA_SUCCESS && ending) sc_streams_context_gone(ending);               \
              return result;)

/* NULL unless the device's primary context is one that we have met, and alive. */
static CUcontext primary_context(CUdevice device)
{
    return sc_streams_primary_context(device);
}

CONTEXT_END(cuCtxDestroy, CUcontext context, context, context)
CONTEXT_END(cuCtxDestroy_v2, CUcontext context, context, context)
CONTEXT_END(cuDevicePrimaryCtxReset, CUdevice device, device, primary_context(device))
CONTEXT_END(cuDevicePrimaryCtxReset_v2, CUdevice device, device, primary_context(device))

/* The last release ends the context as a reset does; whether it was the last is asked afterwards. */
static CUresult released(CUresult result, CUdevice device, CUcontext context)
{
    unsigned flags = 0;
    int alive = 1;
    if (result == CUDA_SUCCESS && context &&
        sc_real.cuDevicePrimaryCtxGetState(device, &flags, &alive) == CUDA_SUCCESS && !alive)
        sc_streams_context_gone(context);
    return result;
}

#define PRIMARY_RELEASE(symbol)                                                                    \
    SC_DEFINE(symbol, (CUdevice device),                                                           \
              CUcontext context = sc_active() ? primary_context(device) : NULL;                    \
              return released(REAL(device), device, context);)

PRIMARY_RELEASE(cuDevicePrimaryCtxRelease)
PRIMARY_RELEASE(cuDevicePrimaryCtxRelease_v2)

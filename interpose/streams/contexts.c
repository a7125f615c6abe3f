#include "interpose/streams/contexts.h"

#include <errno.h>

#include "common/arena.h"
#include "common/checks.h"
#include "common/handles.h"
#include "common/mutex.h"
#include "common/trace.h"
#include "common/uncancelled.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/driver/driver.h"
#include "interpose/streams/capturing.h"
#include "interpose/streams/streams.h"

#include "common/poison.h"

static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_handles by_handle; /* CUcontext -> struct sc_context * */
static struct sc_arena arena SC_GUARDED_BY(contexts_lock);
static _Atomic int first_device = -1;
static _Atomic bool has_several; /* contexts of more than one device were met */

int sc_contexts_init(void)
{
    return sc_handles_init(&by_handle) ? -ENOMEM : 0;
}

bool sc_contexts_push(struct sc_context *context)
{
    return !atomic_load_explicit(&context->gone, memory_order_acquire) &&
           sc_real.cuCtxPushCurrent_v2(context->handle) == CUDA_SUCCESS;
}

void sc_contexts_pop(void)
{
    CUcontext popped;
    sc_real.cuCtxPopCurrent_v2(&popped);
}

/* ---- meeting them ---- */

/* What the driver says of the current context, for its record. */
struct facts {
    CUdevice device;
    bool reads_pageable, shares_managed;
    bool may_be_green;
    struct sc_context *primary;
};

/* Has the device this property? No also if the driver does not tell. */
static bool device_has(CUdevice device, CUdevice_attribute attribute)
{
    int value = 0;
    if (sc_real.cuDeviceGetAttribute)
        sc_real.cuDeviceGetAttribute(&value, attribute, device);
    return value != 0;
}

/* Finds out whether the current context is a green one (part of a device), and what its primary
 * context is. While something captures that blocks the legacy stream, the question would break that
 * capture. So it is not asked then, and the context counts as one that may be green. */
static void ask_green(struct facts *facts)
{
    CUcontext primary = NULL;
    CUgreenCtx green = NULL;
    facts->may_be_green = sc_capturing_may_be_on(CU_STREAM_LEGACY);
    if (facts->may_be_green || !sc_real.cuStreamGetCtx_v2)
        return;
    facts->may_be_green =
        sc_real.cuStreamGetCtx_v2(CU_STREAM_LEGACY, &primary, &green) != CUDA_SUCCESS || green;
    if (green)
        facts->primary = sc_contexts_of(primary);
}

/* Devices that ever had a context, a bit each; bit 31 is for all later ones. */
static _Atomic uint32_t devices;

/* Notes that the device had a context at some time, for sc_contexts_only_device. */
void sc_contexts_made_on(CUdevice device)
{
    atomic_fetch_or(&devices, 1u << (device < 31 ? device : 31));
}

/* Returns the device if contexts were made on one only; -1 if on several or none. Devices from 31
 * on share a bit, and count as several. */
int sc_contexts_only_device(void)
{
    uint32_t met = atomic_load_explicit(&devices, memory_order_relaxed);
    return met && !(met & (met - 1)) && met != 1u << 31 ? __builtin_ctz(met) : -1;
}

/* Makes the record of a context that has none, with that of its legacy stream, whose id names the
 * context in the tracker. Returns NULL if there is no memory; what was made is leaked. */
static struct sc_context *add_locked(CUcontext handle, const struct facts *facts)
    SC_REQUIRES(contexts_lock)
{
    SC_ASSERT_HELD(&contexts_lock);
    SC_TRACE("context-add handle device", handle, facts->device);
    struct sc_context *context = sc_arena_alloc(&arena, sizeof *context);
    if (!context)
        return NULL;
    *context = (struct sc_context){
        .handle = handle,
        .device = facts->device,
        .reads_pageable = facts->reads_pageable,
        .shares_managed = facts->shares_managed,
        .may_be_green = facts->may_be_green,
        .primary = facts->primary,
        .detours.lock = PTHREAD_MUTEX_INITIALIZER,
    };
    if (atomic_load(&first_device) < 0)
        atomic_store(&first_device, context->device);
    if (atomic_load(&first_device) != context->device)
        atomic_store(&has_several, true);
    context->legacy_stream = sc_streams_add_legacy(context);
    if (!context->legacy_stream)
        return NULL;
    SC_ASSERT(!context->primary || !context->primary->primary);
    context->legacy = context->legacy_stream->id;
    sc_contexts_made_on(facts->device);
    return sc_handles_put(&by_handle, (uintptr_t)handle, (uintptr_t)context) ? NULL : context;
}

/* Makes the record of the context `handle`, which is current on this thread, at its first use. The
 * driver is asked before the lock is taken, so another thread may have been quicker. A context that
 * has ended is buried first: the handle may be that one's. */
static __attribute__((noinline)) struct sc_context *meet_context(CUcontext handle)
{
    struct sc_context *context;
    struct facts facts = {.primary = NULL};
    sc_context_calls_bury_ended();
    if (sc_real.cuCtxGetDevice(&facts.device) != CUDA_SUCCESS)
        return NULL;
    facts.reads_pageable = device_has(facts.device, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
    facts.shares_managed = device_has(facts.device, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
    ask_green(&facts);
    SC_LOCKED(&contexts_lock);
    context = sc_handle_pointer(sc_handles_get(&by_handle, (uintptr_t)handle));
    if (!context)
        context = add_locked(handle, &facts);
    return context;
}

/* Returns the record of the context `handle`, which is current on this thread. A record of a
 * context that has ended does not count: the driver gives handles again. */
static struct sc_context *find_context(CUcontext handle)
{
    struct sc_context *context = sc_handle_pointer(sc_handles_get(&by_handle, (uintptr_t)handle));
    return sc_likely(context && !atomic_load_explicit(&context->gone, memory_order_relaxed))
               ? context
               : meet_context(handle);
}

/* Returns the calling thread's current context; NULL: it has none, or there is no memory for a
 * record. */
struct sc_context *sc_contexts_current(void)
{
    CUcontext handle = NULL;
    if (sc_real.cuCtxGetCurrent(&handle) != CUDA_SUCCESS || !handle)
        return NULL;
    return find_context(handle);
}

struct sc_context *sc_contexts_of_memory(void)
{
    struct sc_context *context = sc_contexts_current();
    return context && context->primary ? context->primary : context;
}

struct sc_context *sc_contexts_known(CUcontext handle)
{
    return sc_handle_pointer(sc_handles_get(&by_handle, (uintptr_t)handle));
}

/* Called when a call has returned an error after which nothing of the current context runs any
 * more: marks it, and the primary context of a green one. What is in flight there is no hazard any
 * more. */
void sc_contexts_note_lost(void)
{
    CUcontext handle = NULL;
    if (sc_real.cuCtxGetCurrent(&handle) != CUDA_SUCCESS || !handle)
        return;
    struct sc_context *context = sc_contexts_known(handle);
    if (!context)
        return;
    atomic_store(&context->lost, true);
    if (context->primary)
        atomic_store(&context->primary->lost, true);
}

/* Has such an error (a failed kernel) ended all work of the stream's context, or of the primary
 * context of a green one? Asked before a hazard there is reported. */
bool sc_contexts_has_lost(uint32_t stream)
{
    struct sc_stream_record *record = sc_streams_of_id(stream);
    struct sc_context *context = record ? record->context : NULL;
    return context && (atomic_load_explicit(&context->lost, memory_order_relaxed) ||
                       (context->primary &&
                        atomic_load_explicit(&context->primary->lost, memory_order_relaxed)));
}

struct sc_context *sc_contexts_named(CUcontext handle)
{
    return handle ? sc_contexts_known(handle) : sc_contexts_current();
}

/* Returns the record of the context. If it has none, makes the context current for a moment, as the
 * driver answers questions about the current one only. NULL: the context has ended, or no
 * memory. */
struct sc_context *sc_contexts_of(CUcontext handle)
{
    struct sc_context *context = sc_contexts_known(handle);
    if (context && !atomic_load_explicit(&context->gone, memory_order_relaxed))
        return context;
    if (sc_real.cuCtxPushCurrent_v2(handle) != CUDA_SUCCESS)
        return NULL;
    context = find_context(handle);
    sc_contexts_pop();
    return context;
}

/* Returns the device's primary context, if it is alive and known. The driver tells its handle only
 * to a retain. That is undone at once, and makes no context, because the state is asked first. */
CUcontext sc_contexts_primary(CUdevice device)
{
    CUresult (*release)(CUdevice) = sc_real.cuDevicePrimaryCtxRelease_v2
                                        ? sc_real.cuDevicePrimaryCtxRelease_v2
                                        : sc_real.cuDevicePrimaryCtxRelease;
    unsigned flags = 0;
    int alive = 0;
    CUcontext handle = NULL;
    if (sc_real.cuDevicePrimaryCtxGetState(device, &flags, &alive) != CUDA_SUCCESS || !alive ||
        sc_real.cuDevicePrimaryCtxRetain(&handle, device) != CUDA_SUCCESS)
        return NULL;
    release(device);
    return sc_contexts_known(handle) ? handle : NULL;
}

/* Returns any context of the device in which the library may make calls: none that has ended, or
 * that a call may be ending just now (quiet). */
struct sc_context *sc_contexts_on(CUdevice device)
{
    struct sc_context *found = NULL;
    SC_LOCKED(&contexts_lock);
    SC_HANDLES_EACH (walk, &by_handle) {
        struct sc_context *context = sc_handle_pointer(walk.value);
        if (context->device == device && !context->gone && !context->quiet)
            found = context;
    }
    return found;
}

/* Returns the context in which the memory at the address was allocated, or one of its device. NULL:
 * it is not known, or all contexts met are of one device, so that it makes no difference. */
struct sc_context *sc_contexts_at(CUdeviceptr address)
{
    CUcontext handle = NULL;
    int device = -1;
    if (!atomic_load_explicit(&has_several, memory_order_relaxed) || !sc_real.cuPointerGetAttribute)
        return NULL;
    SC_NO_CANCELLATION_POINT();
    if (sc_real.cuPointerGetAttribute(&handle, CU_POINTER_ATTRIBUTE_CONTEXT, address) ==
            CUDA_SUCCESS &&
        handle)
        return sc_contexts_known(handle);
    if (sc_real.cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) !=
        CUDA_SUCCESS)
        return NULL;
    return sc_contexts_on(device);
}

/* ---- those that end ---- */

/* Called before a call that ends the context: takes its handle out of the table, so that no other
 * thread finds it meanwhile. Returns the record, or NULL. */
struct sc_context *sc_contexts_take(CUcontext handle)
{
    SC_TRACE("context-take handle", handle);
    SC_LOCKED(&contexts_lock);
    return sc_handle_pointer(sc_handles_remove(&by_handle, (uintptr_t)handle));
}

void sc_contexts_put_back(struct sc_context *context)
{
    SC_LOCKED(&contexts_lock);
    sc_handles_put(&by_handle, (uintptr_t)context->handle, (uintptr_t)context);
}

/* Takes one green context of `primary` out of the table or, for NULL, one context that has ended;
 * the caller asks until there is none. Returns NULL then. */
struct sc_context *sc_contexts_take_one(const struct sc_context *primary)
{
    uintptr_t found = 0;
    SC_LOCKED(&contexts_lock);
    SC_HANDLES_EACH (walk, &by_handle) {
        const struct sc_context *context = sc_handle_pointer(walk.value);
        if (primary ? context->primary == primary : context->gone)
            found = walk.handle;
    }
    return found ? sc_handle_pointer(sc_handles_remove(&by_handle, found)) : NULL;
}

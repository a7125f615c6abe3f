#include "cupti_hooks/callbacks.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "cupti_hooks/current_call.h"
#include "cupti_hooks/resources.h"
#include "cupti_hooks/subscription.h"

#include "common/poison.h"

enum { SHARDS = 64, PAGE_BITS = 12 };

__thread struct sc_current_call sc_current_call;
_Atomic bool sc_current_call_is_traced;

static void (*missed_handler)(const struct sc_missed_call *call, bool entering);
static _Atomic unsigned char audited[SC_CBID_MAX];

/* A cache line of counts for each group of threads, as many threads issue copies at once. */
static struct {
    _Alignas(64) _Atomic uint64_t wrapped;
    _Atomic uint64_t missed;
} counts[SHARDS];

void sc_callbacks_start(void (*missed)(const struct sc_missed_call *call, bool entering))
{
    missed_handler = missed;
}

/* Does the name begin with one of the prefixes, of which the last is NULL? */
static bool begins_with_one_of(const char *name, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (strncmp(name, *prefixes, strlen(*prefixes)) == 0)
            return true;
    return false;
}

/* Should a wrapper have seen calls of this driver function? By prefix, so that functions of a newer
 * driver are included. */
bool sc_callbacks_is_audited(const char *driver_function)
{
    static const char *const prefixes[] = {
        "cuMemcpy",
        "cuMemset",
        "cuMemPrefetch",
        "cuMemFree",
        "cuMemHostAlloc",
        "cuMemAllocHost",
        "cuMemHostRegister",
        "cuMemHostUnregister",
        "cuMemAllocManaged",
        "cuGraphLaunch",
        "cuStreamBeginCapture",
        "cuStreamEndCapture",
        NULL,
    };
    return begins_with_one_of(driver_function, prefixes);
}

/* Should hazards carry the name of this runtime function? By prefix, as in sc_callbacks_is_audited.
 */
bool sc_callbacks_is_named(const char *runtime_function)
{
    static const char *const prefixes[] = {
        "cudaMemcpy",
        "cudaMemset",
        "cudaMemPrefetch",
        "cudaFree",
        "cudaHostRegister",
        "cudaHostUnregister",
        "cudaGraphLaunch",
        "cudaStreamBeginCapture",
        "cudaStreamEndCapture",
        "cudaGraphInstantiate",
        "cudaGraphAdd",
        "cudaGraphExec",
        "cudaGraphMemcpy",
        "cudaGraphMemset",
        "cudaMalloc",
        "cudaHostAlloc",
        "cudaEventSynchronize",
        "cudaStreamSynchronize",
        "cudaDeviceSynchronize",
        NULL,
    };
    return begins_with_one_of(runtime_function, prefixes);
}

void sc_callbacks_audit(uint32_t id)
{
    if (id < SC_CBID_MAX)
        atomic_store_explicit(&audited[id], 1, memory_order_relaxed);
}

static bool is_audited(uint32_t id)
{
    return id < SC_CBID_MAX && atomic_load_explicit(&audited[id], memory_order_relaxed);
}

static unsigned shard_of_thread(void)
{
    return ((uintptr_t)&sc_current_call >> PAGE_BITS) % SHARDS;
}

/* Counts and reports a driver call that no wrapper has made. SC_CARRY: driver calls that the
 * receiver makes are the library's. */
static void report_missed(uint32_t id, const CUpti_CallbackData *data, bool entering)
{
    struct sc_missed_call call = {
        .id = id,
        .name = data->functionName,
        .parameters = data->functionParams,
        .correlation_id = data->correlationId,
        .result = entering ? 0 : *(const int *)data->functionReturnValue,
        .audited = is_audited(id),
    };
    if (entering && call.audited)
        atomic_fetch_add_explicit(&counts[shard_of_thread()].missed, 1, memory_order_relaxed);
    sc_current_call.followed = entering;
    SC_CARRY();
    missed_handler(&call, entering);
}

/* Handles a callback for a driver call: stores its correlation id, and counts it as wrapped or
 * reports it as missed. */
static void on_driver_call(uint32_t id, const CUpti_CallbackData *data)
{
    bool entering = data->callbackSite == CUPTI_API_ENTER;
    bool counts_here = entering && is_audited(id);
    if (counts_here)
        sc_current_call.correlation_id = data->correlationId;
    if (__builtin_expect(!sc_current_call_is_carried(), 0))
        report_missed(id, data, entering);
    else if (counts_here)
        atomic_fetch_add_explicit(&counts[shard_of_thread()].wrapped, 1, memory_order_relaxed);
}

/* Stores the name of the runtime function under way. `correlationData` of the inner call keeps the
 * outer function's name until the inner one returns. CUPTI may report the return of a call that
 * began before the subscription: its correlationData was not set here, and is ignored. */
static void on_runtime_call(const CUpti_CallbackData *data)
{
    const char *name = data->functionName;
    const char *now = sc_current_call.runtime_api;
    if (data->callbackSite == CUPTI_API_ENTER) {
        *data->correlationData = (uintptr_t)(now == name ? NULL : now); /* a siglongjmp left it */
        sc_current_call.runtime_api = name;
    } else {
        sc_current_call.runtime_api =
            now == name ? (const char *)(uintptr_t)*data->correlationData : NULL;
    }
}

/* Passes the callback on by its domain. CUPTI calls this on the thread that makes the call. */
void CUPTIAPI sc_callbacks_receive(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void *about)
{
    const CUpti_CallbackData *data = about;
    (void)user;
    if (!sc_current_call_may_be_known())
        return;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
        on_driver_call(id, data);
    else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
        on_runtime_call(data);
    else
        sc_resources_receive(domain, id, about);
}

/* Sums up the counts of all groups of threads. */
void sc_callbacks_counts(uint64_t *wrapped, uint64_t *missed_calls)
{
    *wrapped = *missed_calls = 0;
    for (unsigned i = 0; i < SHARDS; i++) {
        *wrapped += atomic_load_explicit(&counts[i].wrapped, memory_order_relaxed);
        *missed_calls += atomic_load_explicit(&counts[i].missed, memory_order_relaxed);
    }
}

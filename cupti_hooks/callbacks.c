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

/* Sets the function that is told of driver calls that no wrapper has made. */
void sc_callbacks_start(void (*missed)(const struct sc_missed_call *call, bool entering))
{
    missed_handler = missed;
}

/* Does the name begin with one of the prefixes? The last of them is NULL. */
static bool begins_with_one_of(const char *name, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (strncmp(name, *prefixes, strlen(*prefixes)) == 0)
            return true;
    return false;
}

/* Must each call of this driver function come through a wrapper? Calls of these functions are
 * counted, with a wrapper or without. By prefix, so that functions of a newer driver are included.
 */
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

/* Should reports of hazards carry the name of this runtime function, which the program has called
 * in place of the driver's? By prefix, so that functions of a newer runtime are included. */
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

/* Has calls of the driver function with this callback id counted. A newer CUPTI may have ids beyond
 * the table. */
void sc_callbacks_audit(uint32_t id)
{
    if (id < SC_CBID_MAX)
        atomic_store_explicit(&audited[id], 1, memory_order_relaxed);
}

/* Are calls of the driver function with this callback id counted? */
static bool is_audited(uint32_t id)
{
    return id < SC_CBID_MAX && atomic_load_explicit(&audited[id], memory_order_relaxed);
}

/* Returns which group of counts the thread adds to: by the page of its thread-local data, so that
 * threads seldom share a cache line. */
static unsigned shard_of_thread(void)
{
    return ((uintptr_t)&sc_current_call >> PAGE_BITS) % SHARDS;
}

/* Tells the receiver of a driver call that no wrapper has made, before and after the call, and
 * counts it once. Driver calls that the receiver makes are the library's own (SC_CARRY), and are
 * not told in their turn. */
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

/* Handles CUPTI's callback before and after a driver call. Counts the call if its function is
 * audited: as wrapped, or as missed if it is in no wrapper, of which the receiver is told. Keeps
 * the call's id, by which its times on the device are found. */
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

/* Keeps the name of the runtime function under way, for reports. A runtime function may call
 * another: `correlationData`, a word of CUPTI's for each call, keeps the outer name until the inner
 * call returns. A return whose beginning was not seen, before the subscription, ends all names. */
static void on_runtime_call(const CUpti_CallbackData *data)
{
    const char *name = data->functionName;
    const char *now = sc_current_call.runtime_api;
    if (data->callbackSite == CUPTI_API_ENTER) {
        /* the same name is there if a siglongjmp has left such a call */
        *data->correlationData = (uintptr_t)(now == name ? NULL : now);
        sc_current_call.runtime_api = name;
    } else {
        sc_current_call.runtime_api =
            now == name ? (const char *)(uintptr_t)*data->correlationData : NULL;
    }
}

/* The callback that CUPTI calls on the thread that makes a call. Passes it on by its domain; does
 * nothing once the library has ended its subscription, or in a forked child. */
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

/* Stores how many audited driver calls wrappers have made, and how many came past them. */
void sc_callbacks_counts(uint64_t *wrapped, uint64_t *missed_calls)
{
    *wrapped = *missed_calls = 0;
    for (unsigned i = 0; i < SHARDS; i++) {
        *wrapped += atomic_load_explicit(&counts[i].wrapped, memory_order_relaxed);
        *missed_calls += atomic_load_explicit(&counts[i].missed, memory_order_relaxed);
    }
}

#include "interpose/ledger/limits.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/brief_lock.h"
#include "common/checks.h"
#include "common/hazard.h"
#include "common/hazard_words.h"
#include "common/kernel.h"
#include "common/library_lock.h"
#include "common/now.h"
#include "common/op_kinds.h"
#include "common/text.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/compiler.h"
#include "interpose/base/thread_stack.h"
#include "interpose/base/unwind.h"
#include "interpose/driver/call.h"
#include "interpose/driver/relaxed.h"
#include "interpose/driver/replaying.h"
#include "interpose/streams/contexts.h"
#include "ledger/cubin.h"
#include "ledger/limit_events.h"
#include "report/report.h"

#include "common/poison.h"

enum {
    MEASURED_VERSION =
        13000, /* drivers from here on are known to answer at once (docs/driver.md) */
    ATTENDED_PER_FUNCTION = 16,
    ATTENDED_MAX = 1024,       /* at a time */
    ATTENDED_IN_ALL = 1 << 16, /* in a process */
    ASKED_SLOTS = 64,
    PAUSE_NS = 20 * 1000,
};

static struct {
    struct sc_brief_lock lock;
    struct sc_limit_events all; /* under the lock */
} noted;

/* ---- the driver is asked: never while the program sets a limit, which asking would undo ---- */

static _Atomic bool are_errors_logged; /* by the driver, for the program */
static _Atomic int changing; /* calls of cuCtxSetLimit by the program that are under way */
static _Atomic bool asking;

/* Waits until no other thread of the library asks about a limit or sets one; `asking` is then this
 * thread's. */
static void begin_asking_alone(void)
{
    const struct timespec pause = {0, PAUSE_NS};
    while (atomic_exchange(&asking, true))
        sc_kernel_call(SYS_nanosleep, &pause, NULL);
}

/* Waits until no other thread asks about a limit, and no call of the program sets one. Neither
 * takes long; but a call that a signal handler has left by a jump stays counted in `changing`, so
 * the wait has a limit. */
static void begin_setting_alone(void)
{
    enum { TRIES = 5000 };
    const struct timespec pause = {0, PAUSE_NS};
    begin_asking_alone();
    for (int i = 0; i < TRIES && atomic_load(&changing); i++) {
        atomic_store(&asking, false);
        sc_kernel_call(SYS_nanosleep, &pause, NULL);
        begin_asking_alone();
    }
}

/* Begins to ask the driver about a limit, which is done by setting it. `own`: 1 within a call of
 * the program that sets one, else 0. False if another thread asks, or sets a limit, which the
 * question would undo; or if the driver would log the refusal that the question provokes. */
static bool try_asking(int own)
{
    if (atomic_load(&are_errors_logged) || atomic_exchange(&asking, true))
        return false;
    if (atomic_load(&changing) == own)
        return true;
    atomic_store(&asking, false);
    return false;
}

/* Returns the value of a limit of the current context; 0 if the driver does not tell. */
static size_t limit_in_force(CUlimit limit)
{
    size_t value = 0;
    return sc_real.cuCtxGetLimit && sc_real.cuCtxGetLimit(&value, limit) == CUDA_SUCCESS ? value
                                                                                         : 0;
}

/* Can the limit of the current context no longer be set, since a kernel has used it? The value that
 * is in force is set once more: the driver refuses even that. */
static bool is_fixed(CUlimit limit)
{
    SC_RELAXED();
    size_t value = limit_in_force(limit);
    return value && sc_real.cuCtxSetLimit(limit, value) == CUDA_ERROR_INVALID_VALUE;
}

/* ---- what is noted ---- */

/* Describes a limit that was set or fixed: by which call, where, and what is in force now. */
static struct sc_limit_event describe_limit(const struct sc_call *call, enum sc_limit_author by,
                                            const struct sc_context *context, int limit)
{
    sc_thread_stack_learn();
    return (struct sc_limit_event){
        .api = call->api,
        .runtime_api = sc_current_call_runtime_api(),
        .thread = sc_thread_id(),
        .stack = sc_unwind_here(call->site),
        .time_ns = sc_now_ns(),
        .by = by,
        .limit = limit,
        .in_force = limit_in_force((CUlimit)limit),
        .device = context ? context->device : 0,
        .context = context ? (uintptr_t)context->handle : 0,
    };
}

/* Returns the latest call that has set the limit in this context, which still exists; NULL: none.
 * Launches, which only fix a limit, are events as well, and are passed over. An ended context's
 * handle may be this one's again. */
static struct sc_limit_event *find_last_locked(int limit, uintptr_t context) SC_REQUIRES(noted.lock)
{
    struct sc_limit_event *last = NULL;
    for (unsigned i = 0; i < noted.all.count; i++) {
        struct sc_limit_event *event = &noted.all.events[i];
        if (event->by != SC_LIMIT_BY_LAUNCH && event->limit == limit && event->context == context &&
            !event->context_ended && (!last || event->time_ns > last->time_ns))
            last = event;
    }
    return last;
}

/* Returns the place of an event that no longer matters, for a new one: the latest that set the same
 * limit, or one of a context that has ended. NULL: there is none. A launch stays where it is, since
 * its context points to it. */
static struct sc_limit_event *take_place_locked(const struct sc_limit_event *event)
    SC_REQUIRES(noted.lock)
{
    struct sc_limit_event *last = find_last_locked(event->limit, event->context);
    for (unsigned i = 0; i < noted.all.count && !last; i++)
        if (noted.all.events[i].context_ended && noted.all.events[i].by != SC_LIMIT_BY_LAUNCH)
            last = &noted.all.events[i];
    return last;
}

/* Stores an event; returns where it stays, or NULL if there is no room. Some places are reserved
 * for launches, which are stored for good; any other event may take an older one's place. Events
 * for which a new place was lacking are counted. */
static const struct sc_limit_event *store_event(const struct sc_limit_event *event)
{
    struct sc_limit_event *kept = NULL;
    bool is_launch = event->by == SC_LIMIT_BY_LAUNCH;
    unsigned most = SC_LIMIT_EVENTS - (is_launch ? 0 : SC_LIMIT_EVENTS_FOR_LAUNCHES);
    SC_LOCKED_BRIEFLY(&noted.lock);
    noted.all.left_out += noted.all.count >= most;
    if (noted.all.count < most)
        kept = &noted.all.events[noted.all.count++];
    else if (!is_launch)
        kept = take_place_locked(event);
    if (kept)
        *kept = *event;
    return kept;
}

/* Notes in the events of a context that it has ended: the driver may give its handle to a new one.
 */
void sc_limits_context_ended(const struct sc_context *context)
{
    SC_LOCKED_BRIEFLY(&noted.lock);
    for (unsigned i = 0; i < noted.all.count; i++)
        if (noted.all.events[i].context == (uintptr_t)context->handle)
            noted.all.events[i].context_ended = true;
}

/* Sorts the events by time: those of several threads may have been stored out of order. */
static void sort_events(struct sc_limit_events *limits)
{
    for (unsigned i = 1; i < limits->count; i++) {
        const struct sc_limit_event event = limits->events[i];
        unsigned at = i;
        for (; at > 0 && limits->events[at - 1].time_ns > event.time_ns; at--)
            limits->events[at] = limits->events[at - 1];
        limits->events[at] = event;
    }
}

/* Copies what is known of limits and of modules that call malloc, for the report. False if there is
 * nothing, or if the thread holds a lock of the library, perhaps this one (in a signal handler). */
bool sc_limits_draw(struct sc_limit_events *limits)
{
    if (sc_library_lock_depth)
        return false;
    sc_brief_lock_acquire(&noted.lock);
    *limits = noted.all;
    sc_brief_lock_release(&noted.lock);
    sort_events(limits);
    return limits->count > 0 || limits->module_count > 0;
}

/* ---- modules that call malloc ---- */

/* Has the calling thread loaded modules of which it is not yet noted which call did it? That call
 * notes it when it returns. */
static __thread bool has_unclaimed __attribute__((tls_model("initial-exec")));

/* Returns a record for one more module of device code; NULL: there is no room, and the module is
 * only counted. */
static struct sc_limit_module *next_module_locked(void) SC_REQUIRES(noted.lock)
{
    if (noted.all.module_count < SC_LIMIT_MODULES)
        return &noted.all.modules[noted.all.module_count++];
    noted.all.modules_left_out++;
    return NULL;
}

/* Called by CUPTI for each module of device code that is loaded. Notes those whose code calls
 * malloc: for these the size of the device's heap matters. Which call loads it is noted when the
 * call returns (claim_modules); here the driver is at work. */
void sc_limits_module_loaded(const struct sc_context *context, const void *image,
                             size_t image_bytes)
{
    struct sc_limit_module loaded = {
        .thread = sc_thread_id(),
        .time_ns = sc_now_ns(),
        .size_bytes = image_bytes,
        .device = context ? context->device : -1,
    };
    if (!sc_cubin_imports(image, image_bytes, "malloc", loaded.caller, sizeof loaded.caller))
        return;
    SC_LOCKED_BRIEFLY(&noted.lock);
    struct sc_limit_module *kept = next_module_locked();
    if (kept) {
        *kept = loaded;
        has_unclaimed = true;
    }
}

/* Returns a module that the calling thread has loaded and for which no call was noted; NULL: none.
 */
static struct sc_limit_module *find_unclaimed_locked(void) SC_REQUIRES(noted.lock)
{
    for (unsigned i = 0; i < noted.all.module_count; i++)
        if (!noted.all.modules[i].api && noted.all.modules[i].thread == sc_thread_id())
            return &noted.all.modules[i];
    return NULL;
}

/* Notes for modules that this thread has just loaded which call did it, with its stack and the size
 * of the heap. CUPTI has reported them within the call, when neither could be asked for. */
static void claim_modules(const struct sc_call *call)
{
    SC_KEEP_ERRNO();
    if (sc_likely(!has_unclaimed))
        return;
    has_unclaimed = false;
    sc_thread_stack_learn();
    uint32_t stack = sc_unwind_here(call->site);
    const struct sc_context *context = sc_contexts_current();
    uint64_t heap_bytes = limit_in_force(CU_LIMIT_MALLOC_HEAP_SIZE);
    SC_LOCKED_BRIEFLY(&noted.lock);
    for (struct sc_limit_module *module; (module = find_unclaimed_locked()) != NULL;) {
        module->api = call->api;
        module->runtime_api = sc_current_call_runtime_api();
        module->stack = stack;
        module->heap_bytes = heap_bytes;
        if (module->device < 0 && context) /* the context was not known to the library */
            module->device = context->device;
    }
}

/* Returns how large the device's heap is for kernels of the module: as the last call has set it in
 * the context, or else as it was when the module was loaded. */
static uint64_t heap_bytes_locked(const struct sc_context *context,
                                  const struct sc_limit_module *module) SC_REQUIRES(noted.lock)
{
    const struct sc_limit_event *last =
        find_last_locked(CU_LIMIT_MALLOC_HEAP_SIZE, (uintptr_t)context->handle);
    return last ? last->in_force : module->heap_bytes;
}

/* Describes the first module on the context's device that calls malloc: it may have used the heap,
 * where no launch is known that has. NULL: there is none. The result is static, as a process writes
 * only one post-mortem (the report of a lost context). */
static const struct sc_limit_event *describe_module(const struct sc_context *context)
{
    static struct sc_limit_event may_use; /* one context's has a post-mortem */
    SC_LOCKED_BRIEFLY(&noted.lock);
    for (unsigned i = 0; i < noted.all.module_count && !may_use.api; i++) {
        const struct sc_limit_module *module = &noted.all.modules[i];
        if (module->device != context->device || !module->api)
            continue;
        may_use = (struct sc_limit_event){.api = module->api,
                                          .runtime_api = module->runtime_api,
                                          .thread = module->thread,
                                          .stack = module->stack,
                                          .time_ns = module->time_ns,
                                          .by = SC_LIMIT_BY_MODULE,
                                          .in_force = heap_bytes_locked(context, module)};
        memcpy(may_use.kernel, module->caller, sizeof may_use.kernel);
    }
    return may_use.api ? &may_use : NULL;
}

/* Returns what has fixed the size of the heap: a launch, or else a module that may have. Limits
 * belong to the primary context, also where a green context is current. */
const struct sc_limit_event *sc_limits_heap_user(const struct sc_context *context)
{
    const struct sc_context *owner = context->primary ? context->primary : context;
    const struct sc_limit_event *user = atomic_load(&owner->heap_user);
    return user ? user : describe_module(owner);
}

/* ---- options ---- */

static const struct wish {
    const char *option;
    CUlimit limit;
    size_t offset; /* in struct sc_options */
} wishes[] = {
    {"device_heap", CU_LIMIT_MALLOC_HEAP_SIZE, offsetof(struct sc_options, device_heap_bytes)},
    {"stack_limit", CU_LIMIT_STACK_SIZE, offsetof(struct sc_options, stack_limit_bytes)},
    {"printf_fifo", CU_LIMIT_PRINTF_FIFO_SIZE, offsetof(struct sc_options, printf_fifo_bytes)},
};

enum { WISHES = sizeof wishes / sizeof wishes[0] };

/* Returns the value that the user's option asks for; 0: none. */
static size_t wished_bytes(const struct wish *wish)
{
    return *(const uint64_t *)(const void *)((const char *)&sc_options + wish->offset);
}

/* Writes to stderr that a limit which the user asks for is not in force, since the driver refuses
 * it or the program sets another: "device_heap: the driver refuses 1 TB as
 * CU_LIMIT_MALLOC_HEAP_SIZE: error 1". Once for each limit and reason. */
static void print_refusal(const struct wish *wish, const struct sc_limit_event *event)
{
    static _Atomic bool said[2][WISHES];
    bool is_ours = event->by == SC_LIMIT_BY_OPTION;
    char bytes[256];
    struct sc_text text = sc_text_in(bytes, sizeof bytes);
    sc_text_format(&text, "%s: the %s %'lu as %s", wish->option,
                   is_ours ? "driver refuses" : "program itself sets", event->asked,
                   sc_limit_events_word(event->limit));
    if (is_ours)
        sc_text_format(&text, ": error %d", event->result);
    if (!atomic_exchange(&said[is_ours][wish - wishes], true) && sc_options.verbosity > 0)
        sc_report_say(NULL, bytes);
}

/* Will the call make a new context, whose limits have to be set? `primary`: the device whose
 * primary context it asks for, which may be active already; or SC_LIMITS_NEW. */
bool sc_limits_are_due(int primary)
{
    unsigned flags = 0;
    int is_alive = 0;
    if (!sc_active())
        return false;
    return primary == SC_LIMITS_NEW ||
           (sc_real.cuDevicePrimaryCtxGetState(primary, &flags, &is_alive) == CUDA_SUCCESS &&
            !is_alive);
}

/* Was the limit set in this context already? Another thread may have found the same new context, or
 * the program may have set the limit, which then stays. */
static bool was_set(CUlimit limit, const struct sc_context *context)
{
    SC_LOCKED_BRIEFLY(&noted.lock);
    return context && find_last_locked((int)limit, (uintptr_t)context->handle);
}

/* Sets one limit in the current context as the user's option asks, and notes it, unless it was set
 * there. A refusal is told on stderr. */
static void apply_one(const struct sc_call *call, const struct wish *wish)
{
    const struct sc_context *context = sc_contexts_current();
    if (was_set(wish->limit, context))
        return;
    CUresult result = sc_real.cuCtxSetLimit(wish->limit, wished_bytes(wish));
    struct sc_limit_event set = describe_limit(call, SC_LIMIT_BY_OPTION, context, (int)wish->limit);
    set.asked = wished_bytes(wish);
    set.result = (int)result;
    store_event(&set);
    if (result != CUDA_SUCCESS)
        print_refusal(wish, &set);
}

/* Sets all limits that the user's options ask for, in the current context. Meanwhile no other
 * thread asks about one, which would set the old value. */
static void apply_all(const struct sc_call *call)
{
    SC_RELAXED();
    begin_setting_alone();
    for (unsigned i = 0; i < WISHES; i++)
        if (wished_bytes(&wishes[i]))
            apply_one(call, &wishes[i]);
    atomic_store(&asking, false);
}

/* Sets the limits that the user asks for in the device's primary context, which the program's call
 * has made active. The call holds a reference to the context, so the library's own, given back
 * here, does not keep it alive. */
static void apply_to_primary(const struct sc_call *call, CUdevice device)
{
    CUcontext handle = NULL;
    CUresult (*release)(CUdevice) = sc_real.cuDevicePrimaryCtxRelease_v2
                                        ? sc_real.cuDevicePrimaryCtxRelease_v2
                                        : sc_real.cuDevicePrimaryCtxRelease;
    if (sc_real.cuDevicePrimaryCtxRetain(&handle, device) != CUDA_SUCCESS)
        return;
    if (sc_real.cuCtxPushCurrent_v2(handle) == CUDA_SUCCESS) {
        apply_all(call);
        sc_contexts_pop();
    }
    release(device);
}

/* Sets the limits that the user's options ask for, in a context that the call has just made.
 * `primary`: the device, if it is a primary context; else the context is current. */
void sc_limits_apply(const struct sc_call *call, int primary)
{
    SC_KEEP_ERRNO();
    if (primary == SC_LIMITS_NEW)
        apply_all(call);
    else
        apply_to_primary(call, primary);
}

/* ---- the program sets one ---- */

static _Atomic bool asks_after_launches; /* whether the heap's size is fixed */

/* Begins to watch limits, when the driver is initialised. Launches are followed by a question only
 * with drivers that are known to answer it at once, or if the user asks for limits. With
 * CUDA_LOG_FILE the driver logs errors. */
void sc_limits_start(void)
{
    int version = 0;
    sc_real.cuDriverGetVersion(&version);
    if (getenv("CUDA_LOG_FILE"))
        sc_limits_errors_are_logged();
    atomic_store(&asks_after_launches, version >= MEASURED_VERSION || sc_limits_are_wanted());
}

/* The driver logs its errors for the program from now on: no question is asked any more that
 * provokes one. */
void sc_limits_errors_are_logged(void)
{
    atomic_store(&are_errors_logged, true);
}

/* Called before the program's cuCtxSetLimit: waits for a thread of the library that asks about a
 * limit, and keeps others from it (`changing`), since a question sets the old value again. */
void sc_limits_change_begins(void)
{
    if (!sc_active())
        return;
    SC_KEEP_ERRNO();
    begin_asking_alone();
    atomic_fetch_add(&changing, 1);
    atomic_store(&asking, false);
}

/* Reports that the program has set a limit too late (SC603), after the launch `first` had fixed it,
 * which is the hazard's `copy`. NULL: that launch is not known. */
static void report_too_late(const struct sc_limit_event *set, const struct sc_limit_event *first)
{
    static const struct sc_limit_event unknown = {.api = "unknown"};
    first = first ? first : &unknown;
    const struct sc_hazard hazard = {
        .code = SC603,
        .certainty = SC_OBSERVED,
        .action = SC_ACTION_REPORTED,
        .buffer_kind = SC_NO_BUFFER,
        .limit = {sc_limit_events_word(set->limit), set->asked, set->in_force,
                  first->kernel[0] != '\0' ? first->kernel : NULL},
        .copy = {.api = first->api,
                 .direction = SC_NO_DIRECTION,
                 .device = set->device,
                 .thread = first->thread,
                 .time_ns = first->time_ns,
                 .stack = first->stack,
                 .runtime_api = first->runtime_api},
        .event = {.api = set->api,
                  .thread = set->thread,
                  .time_ns = set->time_ns,
                  .stack = set->stack,
                  .runtime_api = set->runtime_api},
    };
    if (!sc_report_suppresses(&hazard))
        sc_report_hazard(&hazard);
}

/* Was the limit refused because a kernel was launched that has fixed it? Only two limits can be
 * fixed; the driver's error may also mean a wrong value, so it is asked whether the old value is
 * refused as well. */
static bool has_become_fixed(const struct sc_limit_event *set)
{
    bool may_be =
        set->limit == CU_LIMIT_MALLOC_HEAP_SIZE || set->limit == CU_LIMIT_PRINTF_FIFO_SIZE;
    if (!may_be || set->result != CUDA_ERROR_INVALID_VALUE || set->asked == set->in_force ||
        !try_asking(1))
        return false;
    bool late = is_fixed((CUlimit)set->limit);
    atomic_store(&asking, false);
    return late;
}

/* Notes a limit that the program has set, with its value and the driver's answer. Tells the user if
 * it is not what an option asks for, and reports it if it was set too late. */
static void note_change(const struct sc_call *call, CUlimit limit, size_t value, CUresult result)
{
    struct sc_context *context = sc_contexts_of_memory();
    struct sc_limit_event set = describe_limit(call, SC_LIMIT_BY_PROGRAM, context, (int)limit);
    set.asked = value;
    set.result = (int)result;
    store_event(&set);
    for (unsigned i = 0; i < WISHES && result == CUDA_SUCCESS; i++)
        if (wishes[i].limit == limit && wished_bytes(&wishes[i]) &&
            wished_bytes(&wishes[i]) != value)
            print_refusal(&wishes[i], &set);
    if (context && has_become_fixed(&set))
        report_too_late(&set, limit == CU_LIMIT_MALLOC_HEAP_SIZE ? atomic_load(&context->heap_user)
                                                                 : NULL);
}

/* Called after the program's cuCtxSetLimit. A program that sets the heap's size cares for it:
 * launches are followed by the question whether it is fixed now. */
void sc_limits_changed(const struct sc_call *call, CUlimit limit, size_t value, CUresult result)
{
    if (!sc_active())
        return;
    SC_KEEP_ERRNO();
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE)
        atomic_store(&asks_after_launches, true);
    note_change(call, limit, value, result);
    atomic_fetch_sub(&changing, 1);
}

/* ---- the launch that fixes the heap ---- */

static _Atomic int attended_left;            /* how many launches are still watched */
static _Atomic int attended_in_all;          /* how many were watched so far */
static _Atomic uintptr_t asked[ASKED_SLOTS]; /* a function and its context (note_asked) */

/* Called when a module was loaded or a kernel's handle was returned. Launches are watched for a
 * while, to ask after the first of each kernel whether it has fixed the size of the device's heap.
 * Not with a driver that is not asked, nor after very many watched launches, which cost time. */
void sc_limits_function_met(const struct sc_call *call)
{
    claim_modules(call);
    if (!atomic_load_explicit(&asks_after_launches, memory_order_relaxed) || !sc_active() ||
        atomic_load_explicit(&attended_in_all, memory_order_relaxed) > ATTENDED_IN_ALL)
        return;
    int left = atomic_load_explicit(&attended_left, memory_order_relaxed);
    left = left > 0 ? left : 0;
    if (left < ATTENDED_MAX)
        atomic_store_explicit(&attended_left, left + ATTENDED_PER_FUNCTION, memory_order_relaxed);
    sc_process_watch_launches(true);
}

/* Notes that the driver is asked about this kernel in this context; returns whether that was noted
 * before. Kernels that share a slot are asked about once more. A kernel of a library belongs to no
 * context, so the context is part of what is noted. A graph has no handle of a kernel. */
static bool note_asked(const struct sc_context *context, CUfunction function)
{
    uintptr_t both = (uintptr_t)function ^ (uintptr_t)context;
    _Atomic uintptr_t *slot = &asked[both / 32 % ASKED_SLOTS];
    return function && atomic_exchange_explicit(slot, both, memory_order_relaxed) == both;
}

/* Need launches of this kernel in the current context not be watched? It was asked about there, or
 * a launch has fixed the heap's size already. */
bool sc_limits_has_asked(CUfunction function)
{
    const struct sc_context *context = sc_active() ? sc_contexts_current() : NULL;
    const struct sc_context *owner = context && context->primary ? context->primary : context;
    uintptr_t both = (uintptr_t)function ^ (uintptr_t)owner;
    return owner &&
           (atomic_load(&owner->heap_user) || atomic_load(&asked[both / 32 % ASKED_SLOTS]) == both);
}

/* A module was loaded or is unloaded: a kernel's handle may be another one's from now on, so each
 * is asked about anew. */
void sc_limits_modules_changed(void)
{
    for (unsigned i = 0; i < ASKED_SLOTS; i++)
        atomic_store_explicit(&asked[i], 0, memory_order_relaxed);
}

/* Returns the GPU kernel's name; "" if it is not known. A launch names a kernel by a handle of
 * either kind (CUfunction, CUkernel), and nothing shows which. */
static const char *name_of(CUfunction function)
{
    const char *name = "";
    CUresult result = CUDA_ERROR_NOT_FOUND;
    if (function && sc_real.cuFuncGetName)
        result = sc_real.cuFuncGetName(&name, function);
    if (function && result != CUDA_SUCCESS && sc_real.cuKernelGetName)
        sc_real.cuKernelGetName(&name, (CUkernel)function);
    return name ? name : "";
}

/* Notes the launch that has fixed the heap's size, once for a context. `asking` keeps other threads
 * from that. */
static void note_user(const struct sc_call *call, struct sc_context *context, CUfunction function)
{
    struct sc_limit_event user =
        describe_limit(call, SC_LIMIT_BY_LAUNCH, context, CU_LIMIT_MALLOC_HEAP_SIZE);
    struct sc_text name = sc_text_in(user.kernel, sizeof user.kernel);
    sc_text_put(&name, name_of(function));
    atomic_store(&context->heap_user, store_event(&user));
}

/* Asks after a launch whether the heap's size is fixed now: then its kernel was the first that uses
 * the heap. Left out while another thread asks or sets a limit: a later launch is asked about
 * instead. */
static void check_heap(const struct sc_call *call, struct sc_context *context, CUfunction function)
{
    if (!try_asking(0))
        return;
    if (!atomic_load(&context->heap_user) && sc_contexts_push(context)) {
        if (is_fixed(CU_LIMIT_MALLOC_HEAP_SIZE))
            note_user(call, context, function);
        sc_contexts_pop();
    }
    atomic_store(&asking, false);
}

/* Called after a watched launch: asks whether its kernel has fixed the size of the device's heap.
 * When the last of the launches to be watched has come, they take their quick path again. Not asked
 * in a replay (of a call that passed the wrapper by), which runs within the driver's own call; in a
 * context that may be ending (quiet) or is lost; once the heap is fixed; nor twice for a kernel. */
void sc_limits_launched(const struct sc_call *call, struct sc_context *context, CUfunction function)
{
    SC_KEEP_ERRNO();
    struct sc_context *owner = context->primary ? context->primary : context;
    claim_modules(call);
    atomic_fetch_add_explicit(&attended_in_all, 1, memory_order_relaxed);
    if (atomic_fetch_sub_explicit(&attended_left, 1, memory_order_relaxed) <= 1)
        sc_process_watch_launches(false);
    if (!atomic_load_explicit(&asks_after_launches, memory_order_relaxed) || !sc_active() ||
        sc_replaying_is_on() || sc_contexts_is_quiet(owner) || atomic_load(&owner->lost) ||
        atomic_load(&owner->heap_user) || note_asked(owner, function))
        return;
    check_heap(call, owner, function);
}

#include "interpose/missed/cupti_doors.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#pragma GCC visibility push(default)
#include <cupti_activity.h>
#include <cupti_callbacks.h>
CUptiResult CUPTIAPI cuptiFinalize(void);
#pragma GCC visibility pop

#include "cupti_hooks/libcupti.h"
#include "cupti_hooks/subscription.h"
#include "interpose/base/loader.h"
#include "interpose/base/process.h"
#include "interpose/driver/driver_code.h"
#include "interpose/missed/audit.h"

#include "common/poison.h"

enum { SUBSCRIBE, SUBSCRIBE_V2, FINALIZE, REGISTER, ENABLE, ENABLE_CONTEXT, FUNCTIONS };

/* The functions of CUPTI that the library wraps. */
static struct {
    const char *name;
    void *wrapper;
    _Atomic(void *) real; /* the function of the first libcupti in which it was looked up */
} wrapped[FUNCTIONS] = {
    [SUBSCRIBE] = {"cuptiSubscribe", (void *)cuptiSubscribe, NULL},
    [SUBSCRIBE_V2] = {"cuptiSubscribe_v2", (void *)cuptiSubscribe_v2, NULL},
    [FINALIZE] = {"cuptiFinalize", (void *)cuptiFinalize, NULL},
    [REGISTER] = {"cuptiActivityRegisterCallbacks", (void *)cuptiActivityRegisterCallbacks, NULL},
    [ENABLE] = {"cuptiActivityEnable", (void *)cuptiActivityEnable, NULL},
    [ENABLE_CONTEXT] = {"cuptiActivityEnableContext", (void *)cuptiActivityEnableContext, NULL},
};

/* Returns the index of the CUPTI function of this name; FUNCTIONS: the library does not wrap it. */
static int index_of(const char *name)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(wrapped[i].name, name) == 0)
            return i;
    return FUNCTIONS;
}

/* Called by the library's dlsym when it has found a function of CUPTI (`found`): returns what the
 * program gets, which is the wrapper if the function is wrapped. One wrapper cannot call the
 * functions of two libcuptis. So for a second one, the program gets that one's function, and the
 * library stops using CUPTI at once, since the tool's call would not be seen. */
void *sc_cupti_doors_found(void *handle, const char *name, void *found)
{
    int i = index_of(name);
    if (i == FUNCTIONS || !found)
        return found;
    /* The wrapper was found as a function of libcupti only if the handle has other functions of
     * libcupti, too. */
    if (found == wrapped[i].wrapper)
        return sc_loader_symbol(handle, "cuptiUnsubscribe") ? found : NULL;
    /* A stub in a program that is linked with libcupti leads to the library's wrapper already. */
    if (sc_loader_is_stub(found))
        return found;
    void *expected = NULL;
    if (atomic_compare_exchange_strong(&wrapped[i].real, &expected, found) || expected == found)
        return wrapped[i].wrapper;
    sc_audit_make_way();
    sc_cupti_tool_came();
    return found;
}

/* Returns `found`, if it is a real function of libcupti; NULL: it is the library's wrapper, or a
 * stub that leads there, which the wrapper must not call. */
static void *unless_ours(int i, void *found)
{
    return found == wrapped[i].wrapper || sc_loader_is_stub(found) ? NULL : found;
}

/* Returns the function of this name that the object (program or library) with the code at `caller`
 * was linked with; NULL: none. Looked for by that object's own handle, since an object that was
 * loaded without RTLD_GLOBAL may see a libcupti that nobody else sees. */
static void *symbol_of_caller(const char *name, const void *caller)
{
    SC_INSIDE(); /* dlclose does not wait: the module stays */
    Dl_info where;
    void *handle = dladdr(caller, &where) && where.dli_fname
                       ? dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                       : NULL;
    void *found = handle ? sc_loader_symbol(handle, name) : NULL;
    if (handle)
        dlclose(handle);
    return found;
}

/* Is the wrapper all that the caller can find? The library's wrappers are visible to every object,
 * and the libcupti that it has loaded to none. If a libcupti is visible to the caller, so are its
 * functions that the library does not wrap. The last look-up, which fails, also sets dlerror(). */
bool sc_cupti_doors_only_ours(const char *name, const void *caller)
{
    return index_of(name) < FUNCTIONS && !symbol_of_caller("cuptiUnsubscribe", caller) &&
           !sc_loader_next(name);
}

/* Returns the real function in a libcupti that the process has loaded, by whatever way; NULL: none.
 */
static void *symbol_in_process(int i)
{
    void *handle = sc_libcupti_find_loaded();
    return handle ? unless_ours(i, sc_loader_symbol(handle, wrapped[i].name)) : NULL;
}

/* Returns the real function that a wrapper has to call for this caller; NULL: there is none. Tried
 * in turn: what the caller's own object sees, what was looked up before, what comes after the
 * library in the search order, any loaded libcupti. Failed look-ups set dlerror(), which is
 * cleared. */
static void *real_function(int i, const void *caller)
{
    void *real = unless_ours(i, symbol_of_caller(wrapped[i].name, caller));
    real = real ? real : atomic_load(&wrapped[i].real);
    real = real ? real : unless_ours(i, sc_loader_next(wrapped[i].name));
    real = real ? real : symbol_in_process(i);
    dlerror();
    if (real)
        sc_driver_code_note_cupti(real);
    return real;
}

/* Defines the wrapper of a function by which a tool takes over something that only one client can
 * have: the library gives up its own before. */
#define MAKE_WAY(function, i, make_way, made_way, parameters, arguments)                           \
    CUptiResult CUPTIAPI function parameters                                                       \
    {                                                                                              \
        __typeof__(&function) real =                                                               \
            (__typeof__(&function))real_function(i, __builtin_return_address(0));                  \
        if (!real)                                                                                 \
            return CUPTI_ERROR_NOT_INITIALIZED;                                                    \
        make_way();                                                                                \
        CUptiResult result = real arguments;                                                       \
        made_way();                                                                                \
        return result;                                                                             \
    }

/* Defines the wrapper of a function by which a tool takes over CUPTI as a whole. */
#define WHOLE(function, i, parameters, arguments)                                                  \
    MAKE_WAY(function, i, sc_audit_make_way, sc_cupti_tool_came, parameters, arguments)

WHOLE(cuptiSubscribe, SUBSCRIBE,
      (CUpti_SubscriberHandle * subscriber, CUpti_CallbackFunc callback, void *user),
      (subscriber, callback, user))

WHOLE(cuptiSubscribe_v2, SUBSCRIBE_V2,
      (CUpti_SubscriberHandle * subscriber, CUpti_CallbackFunc callback, void *user,
       CUpti_SubscriberParams *parameters),
      (subscriber, callback, user, parameters))

WHOLE(cuptiFinalize, FINALIZE, (void), ())

/* Called after a tool has taken over the activity records only. Does nothing: many tools enable
 * records first and register then, and what they have enabled must not be disabled with the
 * library's. */
static void do_nothing(void)
{
}

#define RECORDS(function, i, parameters, arguments)                                                \
    MAKE_WAY(function, i, sc_audit_make_way_for_records, do_nothing, parameters, arguments)

RECORDS(cuptiActivityRegisterCallbacks, REGISTER,
        (CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed),
        (requested, completed))

RECORDS(cuptiActivityEnable, ENABLE, (CUpti_ActivityKind kind), (kind))

RECORDS(cuptiActivityEnableContext, ENABLE_CONTEXT, (CUcontext context, CUpti_ActivityKind kind),
        (context, kind))

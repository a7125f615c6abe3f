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
#include "interpose/base/loader.h"
#include "interpose/base/process.h"
#include "interpose/driver/driver_code.h"
#include "interpose/missed/audit.h"

#include "common/poison.h"

enum { SUBSCRIBE, SUBSCRIBE_V2, FINALIZE, REGISTER, ENABLE, ENABLE_CONTEXT, DOORS };

static struct {
    const char *name;
    void *wrapper;
    _Atomic(void *) real; /* of the first libcupti that was asked for it */
} doors[DOORS] = {
    [SUBSCRIBE] = {"cuptiSubscribe", (void *)cuptiSubscribe, NULL},
    [SUBSCRIBE_V2] = {"cuptiSubscribe_v2", (void *)cuptiSubscribe_v2, NULL},
    [FINALIZE] = {"cuptiFinalize", (void *)cuptiFinalize, NULL},
    [REGISTER] = {"cuptiActivityRegisterCallbacks", (void *)cuptiActivityRegisterCallbacks, NULL},
    [ENABLE] = {"cuptiActivityEnable", (void *)cuptiActivityEnable, NULL},
    [ENABLE_CONTEXT] = {"cuptiActivityEnableContext", (void *)cuptiActivityEnableContext, NULL},
};

static int door_of(const char *name)
{
    for (int i = 0; i < DOORS; i++)
        if (strcmp(doors[i].name, name) == 0)
            return i;
    return DOORS;
}

/* One wrapper cannot stand for the functions of two libcuptis: who asks for the second one's has
 * CUPTI to himself at once. */
void *sc_cupti_doors_found(void *handle, const char *name, void *found)
{
    int door = door_of(name);
    if (door == DOORS || !found)
        return found;
    if (found == doors[door].wrapper) /* a libcupti in sight has others than ours, too */
        return sc_loader_symbol(handle, "cuptiUnsubscribe") ? found : NULL;
    if (sc_loader_is_stub(found)) /* of a program that is linked with libcupti: it leads to us */
        return found;
    void *expected = NULL;
    if (atomic_compare_exchange_strong(&doors[door].real, &expected, found) || expected == found)
        return doors[door].wrapper;
    sc_audit_make_way();
    sc_audit_made_way();
    return found;
}

static void *not_ours(int door, void *found)
{
    return found == doors[door].wrapper || sc_loader_is_stub(found) ? NULL : found;
}

/* What the caller was linked with: its object may have been loaded without giving its symbols to
 * others. */
static void *linked_with(const char *name, const void *caller)
{
    SC_INSIDE(); /* dlclose waits for nothing: the module stays */
    Dl_info where;
    void *handle = dladdr(caller, &where) && where.dli_fname
                       ? dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                       : NULL;
    void *found = handle ? sc_loader_symbol(handle, name) : NULL;
    if (handle)
        dlclose(handle);
    return found;
}

/* Ours is in everybody's sight, the libcupti that we have loaded in nobody's. One that is in the
 * caller's has others than ours, too. The look-up that fails, the last, also sets dlerror(). */
bool sc_cupti_doors_only_ours(const char *name, const void *caller)
{
    return door_of(name) < DOORS && !linked_with("cuptiUnsubscribe", caller) &&
           !sc_loader_next(name);
}

static void *in_the_process(int door)
{
    void *handle = sc_libcupti_find_loaded();
    return handle ? not_ours(door, sc_loader_symbol(handle, doors[door].name)) : NULL;
}

static void *real_of(int door, const void *caller)
{
    void *real = not_ours(door, linked_with(doors[door].name, caller));
    real = real ? real : atomic_load(&doors[door].real);
    real = real ? real : not_ours(door, sc_loader_next(doors[door].name));
    real = real ? real : in_the_process(door);
    dlerror();
    if (real)
        sc_driver_code_note_cupti(real);
    return real;
}

/* A tool wants for itself what only one can have. */
#define MAKE_WAY(function, door, make_way, made_way, parameters, arguments)                        \
    CUptiResult CUPTIAPI function parameters                                                       \
    {                                                                                              \
        __typeof__(&function) real =                                                               \
            (__typeof__(&function))real_of(door, __builtin_return_address(0));                     \
        if (!real)                                                                                 \
            return CUPTI_ERROR_NOT_INITIALIZED;                                                    \
        make_way();                                                                                \
        CUptiResult result = real arguments;                                                       \
        made_way();                                                                                \
        return result;                                                                             \
    }

/* CUPTI as a whole. */
#define WHOLE(function, door, parameters, arguments)                                               \
    MAKE_WAY(function, door, sc_audit_make_way, sc_audit_made_way, parameters, arguments)

WHOLE(cuptiSubscribe, SUBSCRIBE,
      (CUpti_SubscriberHandle * subscriber, CUpti_CallbackFunc callback, void *user),
      (subscriber, callback, user))

WHOLE(cuptiSubscribe_v2, SUBSCRIBE_V2,
      (CUpti_SubscriberHandle * subscriber, CUpti_CallbackFunc callback, void *user,
       CUpti_SubscriberParams *parameters),
      (subscriber, callback, user, parameters))

WHOLE(cuptiFinalize, FINALIZE, (void), ())

/* The records alone. Many tools enable first and register then: what they enabled must not be
 * disabled with ours. */
static void nothing_behind(void)
{
}

#define RECORDS(function, door, parameters, arguments)                                             \
    MAKE_WAY(function, door, sc_audit_make_way_for_records, nothing_behind, parameters, arguments)

RECORDS(cuptiActivityRegisterCallbacks, REGISTER,
        (CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed),
        (requested, completed))

RECORDS(cuptiActivityEnable, ENABLE, (CUpti_ActivityKind kind), (kind))

RECORDS(cuptiActivityEnableContext, ENABLE_CONTEXT, (CUcontext context, CUpti_ActivityKind kind),
        (context, kind))

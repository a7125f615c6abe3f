/* dlsym and dlvsym, the doors that ctypes, Numba, JAX and the static CUDA runtime come through, and
 * dlopen, by which a program may go round them (deep_bound.h).
 *
 * The rules of this file: it is always built -O2 without sanitizers or coverage, because the doors
 * must be left by a tail call. The real one looks at its return address to learn who asks, and a
 * frame of ours between the two would answer RTLD_NEXT and RTLD_DEFAULT, and search the RUNPATH,
 * for the wrong object. Nothing here may allocate: allocators call dlsym while they start.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "interpose/base/compiler.h"
#include "interpose/base/exported.h"
#include "interpose/base/loader.h"
#include "interpose/driver/driver.h"
#include "interpose/entry/deep_bound.h"
#include "interpose/guard/door.h"
#include "interpose/missed/cupti_doors.h"

/* Our exported wrappers must not make a program believe in a driver that is not there. When there
 * is none, the failed look-up behind us has also set dlerror(), and its NULL is the answer. Never a
 * tail call: it is this object that must be asking for what comes after it. */
static bool is_only_ours(const char *name)
{
    if (!sc_driver_wraps(name) || sc_driver_attach(NULL))
        return false;
    void *behind_us = sc_loader_dlsym()(RTLD_NEXT, name);
    __asm__ volatile("" : "+r"(behind_us));
    return !behind_us;
}

static bool is_of_cuda(const char *name)
{
    return name[0] == 'c' && name[1] == 'u';
}

/* It may be that of a library with functions of the same names, which are none of our business. The
 * handle of the program itself finds our wrappers first. */
static void *driver_symbol(void *handle, const char *name, void *found)
{
    if (sc_unlikely(sc_cupti_doors_is_cupti(name)))
        return sc_cupti_doors_found(handle, name, found);
    if (sc_driver_wraps(name))
        sc_driver_attach(handle);
    if (sc_driver_is_wrapper(found) && is_only_ours(name))
        return NULL;
    return sc_driver_wrapper_of(found);
}

/* What others look for in this library itself, and in every other one that they load. */
static bool is_no_hook(const char *name)
{
    return sc_exported_is(name, "InitializeInjection") ||
           sc_exported_is(name, "__asan_default_options");
}

/* A hook of what this libc lacks stands before nothing, and a program that asks whether there is
 * such a function goes another way without. The failed look-up leaves its word in dlerror(). Who
 * asks from within a look-up, an allocator say, is let through. */
static bool hides_nothing(const char *name, const void *hook)
{
    return hook && !sc_loader_is_looking() && sc_loader_is_absent(name) &&
           !sc_loader_dlsym()(RTLD_NEXT, name);
}

static bool is_absent(const char *name)
{
    return hides_nothing(name, sc_exported_by_us(name));
}

/* A handle of libc leads past its hooks. Only what our hook itself calls is replaced: a function of
 * that name that belongs to another library, to an interposer, or is of another version, is what
 * was asked for. */
static void *hook_of(const char *name, void *found)
{
    void *hook = is_no_hook(name) ? NULL : sc_exported_by_us(name);
    if (sc_unlikely(hook == found && hides_nothing(name, hook)))
        return NULL;
    return hook && sc_loader_behind(name) == found ? hook : found;
}

/* What is found through a real handle does not depend on the caller, and may be looked at. */
static __attribute__((noinline)) void *replaced(void *handle, const char *name, void *found)
{
    if (!found)
        return NULL;
    return is_of_cuda(name) ? driver_symbol(handle, name, found) : hook_of(name, found);
}

static bool is_real(const void *handle)
{
    return handle != RTLD_DEFAULT && handle != RTLD_NEXT;
}

static bool is_only_our_cupti(const char *name, const void *caller)
{
    return sc_cupti_doors_is_cupti(name) && sc_cupti_doors_only_ours(name, caller);
}

SC_EXPORT void *dlopen(const char *file, int mode)
{
    typedef void *open_function(const char *file, int mode);
    sc_deep_bound_settle();
    sc_guard_process(SC_GUARD_LOADS_CODE);
    if (sc_unlikely(mode & RTLD_DEEPBIND))
        sc_deep_bound_is_due = true;
    return SC_NEXT(open_function *, "dlopen")(file, mode);
}

SC_EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    sc_deep_bound_settle();
    sc_dlsym_function *real = sc_loader_dlsym();
    if (is_real(handle))
        return replaced(handle, name, real(handle, name));
    if (sc_unlikely(is_of_cuda(name) && handle == RTLD_DEFAULT) &&
        (is_only_ours(name) || is_only_our_cupti(name, __builtin_return_address(0))))
        return NULL;
    if (sc_unlikely(handle == RTLD_DEFAULT && is_absent(name)))
        return NULL;
    return real(handle, name);
}

/* A function without a version, as ours are, is none of those that RTLD_DEFAULT means. The first
 * libc in sight is everybody's, also ours. */
static __attribute__((noinline)) void *default_hook(const char *name, const char *version)
{
    void *hook = sc_exported_by_us(name);
    if (!hook || is_of_cuda(name) || is_no_hook(name))
        return NULL;
    void *found = sc_loader_dlvsym()(RTLD_DEFAULT, name, version);
    return found && sc_loader_behind(name) == found ? hook : NULL;
}

SC_EXPORT void *dlvsym(void *restrict handle, const char *restrict name,
                       const char *restrict version)
{
    sc_deep_bound_settle();
    sc_dlvsym_function *real = sc_loader_dlvsym();
    if (is_real(handle))
        return replaced(handle, name, real(handle, name, version));
    void *hook = handle == RTLD_DEFAULT ? default_hook(name, version) : NULL;
    return hook ? hook : real(handle, name, version);
}

/* Hooks of dlsym and dlvsym, by which ctypes, Numba, JAX and the static CUDA runtime reach the
 * driver, and of dlopen, by which a program may get past them (deep_bound.h).
 *
 * The rules of this file: it is always built with -O2 and without sanitizers or coverage, because
 * these hooks must be left by a tail call. The real function looks at its return address to learn
 * which object asks. With a frame of ours in between, RTLD_NEXT, RTLD_DEFAULT and the RUNPATH would
 * be those of the wrong object. Nothing here may allocate: allocators call dlsym while they start.
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

/* Is our wrapper the only function of that name? Then there is no driver, and our exported wrapper
 * must not make the program believe that there is. The failed look-up of the next one has set
 * dlerror(), and its NULL is what the program gets. The look-up must not be a tail call, since this
 * object has to be its caller. */
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

/* Returns what the program gets for a function with the name of one of the driver's. What was found
 * may belong to another library with functions of the same names: then it is returned. A handle of
 * the program itself finds our wrappers first. */
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

/* Functions that others look up in this library itself, and in every other one that they load: no
 * hooks. */
static bool is_no_hook(const char *name)
{
    return sc_exported_is(name, "InitializeInjection") ||
           sc_exported_is(name, "__asan_default_options");
}

/* Returns true if the hook has no function to call, because this libc lacks it. Then a program that
 * asks whether the function exists gets NULL. The failed look-up has set dlerror(). This is not
 * checked within another look-up, as an allocator may make one. */
static bool has_no_function(const char *name, const void *hook)
{
    return hook && !sc_loader_is_looking() && sc_loader_is_absent(name) &&
           !sc_loader_dlsym()(RTLD_NEXT, name);
}

static bool is_absent(const char *name)
{
    return has_no_function(name, sc_exported_by_us(name));
}

/* Returns what the program gets for a libc function through a handle: our hook, but only if the
 * hook itself would call what was found. Otherwise it is a function of that name of another library
 * or interposer, or of another version, and the program asked for that one. */
static void *hook_of(const char *name, void *found)
{
    void *hook = is_no_hook(name) ? NULL : sc_exported_by_us(name);
    if (sc_unlikely(hook == found && has_no_function(name, hook)))
        return NULL;
    return hook && sc_loader_real(name) == found ? hook : found;
}

/* Returns the answer for a real handle, for which it does not matter who asks. */
static __attribute__((noinline)) void *replaced(void *handle, const char *name, void *found)
{
    if (!found)
        return NULL;
    return is_of_cuda(name) ? driver_symbol(handle, name, found) : hook_of(name, found);
}

/* Is it a handle of an object, and none of the two pseudo-handles, by which the caller's place in
 * the search order counts? */
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

/* Returns our hook for dlvsym(RTLD_DEFAULT), which finds no function without a version, such as
 * ours, or NULL if there is none. The first libc in the search is everybody's, also ours. */
static __attribute__((noinline)) void *default_hook(const char *name, const char *version)
{
    void *hook = sc_exported_by_us(name);
    if (!hook || is_of_cuda(name) || is_no_hook(name))
        return NULL;
    void *found = sc_loader_dlvsym()(RTLD_DEFAULT, name, version);
    return found && sc_loader_real(name) == found ? hook : NULL;
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

/* Hooks of dlsym and dlvsym, by which ctypes, Numba, JAX and the static CUDA runtime reach the
 * driver, and of dlopen, by which a program may get past them (deep_bound.h).
 *
 * The rules of this file: it is always built with -O2 and without sanitizers or coverage, because
 * these hooks must be left by a tail call. The real function looks at its return address to learn
 * which object asks. With a frame of ours in between, RTLD_NEXT, RTLD_DEFAULT and the RUNPATH would
 * be those of the wrong object. Nothing here may allocate: allocators call dlsym while they start.
 */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 *   wrapper: our function in the place of one of the driver's
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

/* Is the library's wrapper the only function of that name, so that there is no driver? The wrapper
 * must not make the program believe that there is one. The failed look-up of the next one has set
 * dlerror(), as the program expects with NULL. It must not be a tail call: this object has to be
 * its caller. */
static bool is_only_ours(const char *name)
{
    if (!sc_driver_wraps(name) || sc_driver_attach(NULL))
        return false;
    void *behind_us = sc_loader_dlsym()(RTLD_NEXT, name);
    __asm__ volatile("" : "+r"(behind_us));
    return !behind_us;
}

/* Does the name begin as those of the CUDA driver and CUPTI do? All others are looked for among
 * hooks of libc. */
static bool is_of_cuda(const char *name)
{
    return name[0] == 'c' && name[1] == 'u';
}

/* Returns what the program gets for a function with a name like the driver's, of which `found` is
 * the real look-up's result: the wrapper if it is the driver's, `found` if it belongs to another
 * library with such names, NULL if there is no driver. A handle of the program itself finds the
 * wrapper first. */
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

/* Is it a function that a tool looks up in each library that it loads, this one included? The
 * library's function of that name is meant for the tool; a program that asks for the name must not
 * get it. */
static bool is_no_hook(const char *name)
{
    return sc_exported_is(name, "InitializeInjection") ||
           sc_exported_is(name, "__asan_default_options");
}

/* Has the hook of this name no function to call, because this libc lacks it? Then a program that
 * asks whether the function exists gets NULL; the failed look-up has set dlerror(). Not within
 * another look-up, as an allocator that starts may make one. */
static bool has_no_function(const char *name, const void *hook)
{
    return hook && !sc_loader_is_looking() && sc_loader_is_absent(name) &&
           !sc_loader_dlsym()(RTLD_NEXT, name);
}

/* Does the library hook this name, while libc has no such function? */
static bool is_absent(const char *name)
{
    return has_no_function(name, sc_exported_by_us(name));
}

/* Returns what the program gets for a libc function that it has `found` through a handle: the
 * library's hook, but only if the hook itself would call what was found. Otherwise the function is
 * another library's, or of another version, and the program asked for that one. */
static void *hook_of(const char *name, void *found)
{
    void *hook = is_no_hook(name) ? NULL : sc_exported_by_us(name);
    if (sc_unlikely(hook == found && has_no_function(name, hook)))
        return NULL;
    return hook && sc_loader_real(name) == found ? hook : found;
}

/* Returns what dlsym returns for a handle of an object, in place of what the real one has found. It
 * does not matter there who asks, so this need not be a tail call. */
static __attribute__((noinline)) void *replaced(void *handle, const char *name, void *found)
{
    if (!found)
        return NULL;
    return is_of_cuda(name) ? driver_symbol(handle, name, found) : hook_of(name, found);
}

/* Is it a handle of an object? The two pseudo-handles, RTLD_DEFAULT and RTLD_NEXT, are looked up by
 * the caller's place in the search order, which only a tail call of the real function keeps. */
static bool is_real(const void *handle)
{
    return handle != RTLD_DEFAULT && handle != RTLD_NEXT;
}

/* Is it a function of CUPTI that the caller would find in this library alone? Then there is no
 * CUPTI, and the program gets NULL. */
static bool is_only_our_cupti(const char *name, const void *caller)
{
    return sc_cupti_doors_is_cupti(name) && sc_cupti_doors_only_ours(name, caller);
}

/* Hook of dlopen. The code that is loaded may set its own handler of SIGSEGV by a system call, so
 * the guard of pages has to look again. An object opened with RTLD_DEEPBIND finds the driver and
 * libc before this library. Its references are bound anew at the thread's next look-up, since this
 * call must end as a tail call. */
SC_EXPORT void *dlopen(const char *file, int mode)
{
    typedef void *open_function(const char *file, int mode);
    sc_deep_bound_settle();
    sc_guard_process(SC_GUARD_LOADS_CODE);
    if (sc_unlikely(mode & RTLD_DEEPBIND))
        sc_deep_bound_is_due = true;
    return SC_NEXT(open_function *, "dlopen")(file, mode);
}

/* Hook of dlsym: returns the library's hooks and wrappers in place of what they stand for. With
 * RTLD_DEFAULT the real one finds them itself; there NULL is returned for a function that only this
 * library has. With both pseudo-handles the real one is tail-called, as it looks at its caller. */
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

/* Returns the library's hook for dlvsym(RTLD_DEFAULT), which asks for a version and so finds no
 * function of this library, since its functions have none. NULL: there is no hook, or what the
 * look-up finds is not the function that the hook would call. */
static __attribute__((noinline)) void *default_hook(const char *name, const char *version)
{
    void *hook = sc_exported_by_us(name);
    if (!hook || is_of_cuda(name) || is_no_hook(name))
        return NULL;
    void *found = sc_loader_dlvsym()(RTLD_DEFAULT, name, version);
    return found && sc_loader_real(name) == found ? hook : NULL;
}

/* Hook of dlvsym, as that of dlsym, for look-ups of a function in a given version. The real one is
 * tail-called with a pseudo-handle, as it looks at its caller. */
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

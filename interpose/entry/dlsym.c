/* dlsym, the door that ctypes, Numba, JAX and the static CUDA runtime come through.
 *
 * The rules of this file: it is always built -O2 without sanitizers or coverage, because dlsym
 * must be left by a tail call. The real one looks at its return address to learn who asks, and a
 * frame of ours between the two would answer RTLD_NEXT and RTLD_DEFAULT for the wrong object.
 * Nothing here may allocate: allocators call dlsym while they start.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/driver/driver.h"
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

/* A real handle does not depend on the caller, so its answer may be looked at; and it may be that
 * of a library with functions of the same names, which are none of our business. The handle of the
 * program itself finds our wrappers first. */
static __attribute__((noinline)) void *driver_symbol(void *handle, const char *name)
{
    void *found = sc_loader_dlsym()(handle, name);
    if (!found)
        return NULL;
    if (sc_unlikely(sc_cupti_doors_is_cupti(name)))
        return sc_cupti_doors_found(handle, name, found);
    if (sc_driver_wraps(name))
        sc_driver_attach(handle);
    if (sc_driver_is_wrapper(found) && is_only_ours(name))
        return NULL;
    return sc_driver_wrapper_of(found);
}

static bool is_only_our_cupti(const char *name, const void *caller)
{
    return sc_cupti_doors_is_cupti(name) && sc_cupti_doors_only_ours(name, caller);
}

SC_EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    sc_dlsym_function *real = sc_loader_dlsym();
    if (sc_unlikely(name[0] == 'c' && name[1] == 'u' && handle != RTLD_NEXT)) {
        if (handle != RTLD_DEFAULT)
            return driver_symbol(handle, name);
        if (is_only_ours(name) || is_only_our_cupti(name, __builtin_return_address(0)))
            return NULL;
    }
    return real(handle, name);
}

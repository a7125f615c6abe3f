/* dlsym, the door that ctypes, Numba, JAX and the static CUDA runtime come through.
 *
 * The rules of this file: it is always built -O2 without sanitizers or coverage, because dlsym
 * must be left by a tail call. The real one looks at its return address to learn who asks, and a
 * frame of ours between the two would answer RTLD_NEXT and RTLD_DEFAULT for the wrong object.
 * Nothing here may allocate: allocators call dlsym while they start.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "interpose/driver.h"
#include "interpose/loader.h"
#include "interpose/profilers.h"

typedef void *dlsym_function(void *handle, const char *name);

static _Atomic(dlsym_function *) real_dlsym;

/* Two threads may both find it; they find the same. */
static dlsym_function *find_real_dlsym(void)
{
    dlsym_function *found = atomic_load_explicit(&real_dlsym, memory_order_relaxed);
    if (sc_unlikely(!found)) {
        found = (dlsym_function *)dlvsym(RTLD_NEXT, "dlsym", SC_GLIBC_FIRST);
        atomic_store_explicit(&real_dlsym, found, memory_order_relaxed);
    }
    return found;
}

void *sc_loader_symbol(void *handle, const char *name)
{
    return find_real_dlsym()(handle, name);
}

void *sc_loader_next(const char *name)
{
    return find_real_dlsym()(RTLD_NEXT, name);
}

bool sc_loader_is_stub(const void *function)
{
    Dl_info where;
    void *symbol = NULL;
    return function && dladdr1(function, &where, &symbol, RTLD_DL_SYMENT) != 0 && symbol &&
           ((const ElfW(Sym) *)symbol)->st_shndx == SHN_UNDEF;
}

/* Our exported wrappers must not make a program believe in a driver that is not there. When there
 * is none, the failed look-up behind us has also set dlerror(), and its NULL is the answer. Never a
 * tail call: it is this object that must be asking for what comes after it. */
static bool is_only_ours(const char *name)
{
    if (!sc_driver_wraps(name) || sc_driver_attach(NULL))
        return false;
    void *behind_us = find_real_dlsym()(RTLD_NEXT, name);
    __asm__ volatile("" : "+r"(behind_us));
    return !behind_us;
}

/* A real handle does not depend on the caller, so its answer may be looked at; and it may be that
 * of a library with functions of the same names, which are none of our business. The handle of the
 * program itself finds our wrappers first. */
static __attribute__((noinline)) void *driver_symbol(void *handle, const char *name)
{
    void *found = find_real_dlsym()(handle, name);
    if (!found)
        return NULL;
    if (sc_unlikely(sc_profilers_is_cupti(name)))
        return sc_profilers_found(handle, name, found);
    if (sc_driver_wraps(name))
        sc_driver_attach(handle);
    if (sc_driver_is_wrapper(found) && is_only_ours(name))
        return NULL;
    return sc_driver_wrapper_of(found);
}

static bool is_only_our_cupti(const char *name, const void *caller)
{
    return sc_profilers_is_cupti(name) && sc_profilers_only_ours(name, caller);
}

SC_EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    dlsym_function *real = find_real_dlsym();
    if (sc_unlikely(name[0] == 'c' && name[1] == 'u' && handle != RTLD_NEXT)) {
        if (handle != RTLD_DEFAULT)
            return driver_symbol(handle, name);
        if (is_only_ours(name) || is_only_our_cupti(name, __builtin_return_address(0)))
            return NULL;
    }
    return real(handle, name);
}

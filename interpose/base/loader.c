#include "interpose/base/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "interpose/base/compiler.h"
#include "interpose/base/exported.h"

#include "common/poison.h"

static _Atomic(sc_dlsym_function *) real_dlsym;
static _Atomic(sc_dlvsym_function *) real_dlvsym;

/* Returns the C library's dlvsym. The library exports a function of that name itself, so the symbol
 * tables of the other objects are searched, once. Two threads may both search; they find the same.
 */
sc_dlvsym_function *sc_loader_dlvsym(void)
{
    sc_dlvsym_function *found = atomic_load_explicit(&real_dlvsym, memory_order_relaxed);
    if (sc_unlikely(!found)) {
        found = (sc_dlvsym_function *)sc_exported_by_another("dlvsym");
        atomic_store_explicit(&real_dlvsym, found, memory_order_relaxed);
    }
    return found;
}

/* Returns the C library's dlsym. The library exports a function of that name itself, so it is
 * looked up by dlvsym, once, by the version that it has had from the beginning. */
sc_dlsym_function *sc_loader_dlsym(void)
{
    sc_dlsym_function *found = atomic_load_explicit(&real_dlsym, memory_order_relaxed);
    if (sc_unlikely(!found)) {
        found = (sc_dlsym_function *)sc_loader_dlvsym()(RTLD_NEXT, "dlsym", SC_GLIBC_FIRST);
        atomic_store_explicit(&real_dlsym, found, memory_order_relaxed);
    }
    return found;
}

/* Looks a symbol up by the real dlsym, in place of the library's own, which would return hooks. */
void *sc_loader_symbol(void *handle, const char *name)
{
    return sc_loader_dlsym()(handle, name);
}

/* Looks a function up in the objects behind this one in load order, where the hook's real function
 * is. */
void *sc_loader_next(const char *name)
{
    return sc_loader_dlsym()(RTLD_NEXT, name);
}

/* Is the address only an entry of the program's linkage table (PLT)? It jumps to a function of
 * another object. Its symbol is undefined in the program, and has an address all the same. */
bool sc_loader_is_stub(const void *function)
{
    Dl_info where;
    void *symbol = NULL;
    return function && dladdr1(function, &where, &symbol, RTLD_DL_SYMENT) != 0 && symbol &&
           ((const ElfW(Sym) *)symbol)->st_shndx == SHN_UNDEF;
}

/* The linker defines symbols for the bounds of the sections that SC_NEXT and the like fill. */
#define SECTION(name)                                                                              \
    extern struct sc_next name##_begin[] __asm__("__start_sc_" #name)                              \
        __attribute__((visibility("hidden")));                                                     \
    extern struct sc_next name##_end[] __asm__("__stop_sc_" #name)                                 \
        __attribute__((visibility("hidden")));

SECTION(nexts)
SECTION(late_nexts)

/* A look-up is under way on this thread. Volatile, since dlvsym is declared (__THROW) not to call
 * back into this file, which it may do through an allocator. */
static __thread volatile bool is_looking;

/* Is this thread looking a real function up? Hooks that an allocator calls meanwhile must not look
 * theirs up. */
bool sc_loader_is_looking(void)
{
    return is_looking;
}

/* Stands for a real function that this C library lacks, as the system does for a call that Linux
 * lacks. */
static long fail_absent(void)
{
    errno = ENOSYS;
    return -1;
}

/* Finds the function in librt, where glibc before 2.34 has some. The program itself need not have
 * librt: a library that needs it may have been opened apart. */
static void *find_in_librt(const char *name)
{
    void *librt = dlopen("librt.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return librt ? sc_loader_symbol(librt, name) : NULL;
}

/* Returns where the object that has the function is mapped; NULL: in none. */
static const void *base_of_object(const void *function)
{
    Dl_info where;
    return function && dladdr(function, &where) ? where.dli_fbase : NULL;
}

/* Returns the version of the function that the hook needs, if it is in the same object as `found`,
 * the next function of the name. Otherwise `found`: another library that comes before libc, as an
 * allocator, is to be called first. */
static void *find_version(const struct sc_next *next, void *found)
{
    void *wanted = sc_loader_dlvsym()(RTLD_NEXT, next->name, next->version);
    return wanted && base_of_object(wanted) == base_of_object(found) ? wanted : found;
}

/* Finds what the program would call without the library: the next function of this name, in the
 * version that the hook asks for; NULL if there is none. */
static void *find_next(const struct sc_next *next)
{
    void *found = sc_loader_next(next->name);
    if (!found)
        return find_in_librt(next->name);
    return next->version ? find_version(next, found) : found;
}

/* Looks up the real function of a hook, and stores it. `is_looking` tells hooks that an allocator
 * calls meanwhile; a look-up may be within another one, so the former value is put back. */
static void look_up(struct sc_next *next)
{
    bool was_looking = is_looking;
    is_looking = true;
    void *found = find_next(next);
    is_looking = was_looking;
    if (found)
        atomic_store_explicit(&next->found, found, memory_order_relaxed);
    else
        dlerror(); /* clears the error, which the program must not see */
}

/* Looks up the real functions of these hooks, except those that are found already. */
static void look_up_each(struct sc_next *first, struct sc_next *end)
{
    for (struct sc_next *next = first; next < end; next++)
        if (!sc_loader_found(next))
            look_up(next);
}

/* Looks up the real functions of all hooks, at the first sign of CUDA and before the first thread
 * is created, while no other thread can make a look-up wait. */
void sc_loader_find_all(void)
{
    look_up_each(nexts_begin, nexts_end);
    look_up_each(late_nexts_begin, late_nexts_end);
}

/* Does the function make threads? Its first call looks up all other functions, while the process
 * has one thread. */
static bool makes_threads(const struct sc_next *next)
{
    return strcmp(next->name, "pthread_create") == 0 || strcmp(next->name, "thrd_create") == 0;
}

/* Returns the record of the hook of this name, of those from `next` to `end`; NULL: none. */
static struct sc_next *record_named(struct sc_next *next, struct sc_next *end, const char *name)
{
    while (next < end && !sc_exported_is(next->name, name))
        next++;
    return next < end ? next : NULL;
}

/* Looks up the real function of a hook. For one that creates threads, those of all hooks, while the
 * process has a single thread. */
static void look_up_with_others(struct sc_next *next)
{
    if (makes_threads(next))
        sc_loader_find_all();
    else
        look_up(next);
}

/* Finds the record of the hook of this name, and looks up its real function, unless that is found.
 * NULL: the library hooks no such function. */
static struct sc_next *look_up_named(const char *name)
{
    struct sc_next *next = record_named(nexts_begin, nexts_end, name);
    if (!next)
        next = record_named(late_nexts_begin, late_nexts_end, name);
    if (next && !sc_loader_found(next))
        look_up_with_others(next);
    return next;
}

/* Does the library hook this name, while libc has no such function? For dlsym: the program must not
 * find the hook then. */
bool sc_loader_is_absent(const char *name)
{
    const struct sc_next *next = look_up_named(name);
    return next && !sc_loader_found(next);
}

/* Returns the function that the program would get by this name without the library: a hook's real
 * function, or the next one of the name. NULL: nothing; then dlerror() is cleared, which the
 * program has not caused. */
void *sc_loader_real(const char *name)
{
    struct sc_next *next = look_up_named(name);
    if (next)
        return sc_loader_found(next);
    void *found = sc_loader_next(name);
    if (!found)
        dlerror();
    return found;
}

/* Looks up the real functions that programs often call in signal handlers, where a look-up could
 * wait for the loader's lock for ever. Not those that make threads: their first call looks up the
 * rest. */
static __attribute__((constructor)) void look_up_first(void)
{
    for (struct sc_next *next = nexts_begin; next < nexts_end; next++)
        if (!makes_threads(next))
            look_up(next);
}

/* Returns the real function of a hook that was not looked up yet. Without one, returns a function
 * that fails with ENOSYS, as the system call would. */
void *sc_loader_find(struct sc_next *next)
{
    look_up_with_others(next);
    void *found = sc_loader_found(next);
    return found ? found : (void *)fail_absent;
}

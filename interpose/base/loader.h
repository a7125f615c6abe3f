/* The loader and the C library as they are without us.
 *
 * dlsym and dlvsym of this object are ours. The real dlvsym is read from the table of the object
 * that has it, and finds the real dlsym by version; its success path neither allocates nor takes a
 * lock that a caller of dlsym could hold. Look-ups with RTLD_NEXT start behind this object. Safe
 * before any constructor has run, from any thread.
 */
#ifndef SC_INTERPOSE_BASE_LOADER_H
#define SC_INTERPOSE_BASE_LOADER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The real dlsym and dlvsym. They look at their return address to learn who asks. */
typedef void *sc_dlsym_function(void *handle, const char *name);
typedef void *sc_dlvsym_function(void *handle, const char *name, const char *version);
sc_dlsym_function *sc_loader_dlsym(void);
sc_dlvsym_function *sc_loader_dlvsym(void);

/* NULL if there is no such symbol; leaves dlerror() set then, as dlsym does. */
void *sc_loader_symbol(void *handle, const char *name);

/* The next definition of a libc function behind this object; never NULL for what libc has. */
void *sc_loader_next(const char *name);

/* What our hook of this name calls; NULL if nothing behind this object has the name. */
void *sc_loader_behind(const char *name);

/* Has a hook of ours this name, and libc no function of it? */
bool sc_loader_is_absent(const char *name);

/* Is the function a jump of the program's own? A program that is not position-independent has such
 * a jump for each function whose address it takes, and dlsym gives the jump too. Where the jump
 * leads is not known. */
bool sc_loader_is_stub(const void *function);

/* A libc function that a hook of ours stands before.
 *
 * A look-up takes the loader's lock, and nobody expects munmap or _exit to wait for a constructor
 * in another thread. So all functions are looked up before the first thread is made, and at the
 * first sign of CUDA. Our constructor looks up only those that programs often call in signal
 * handlers: each of the others (late) costs a process that does not call it as much as one that
 * does. A function that is called before is looked up by that call. */
struct sc_next {
    const char *name;
    const char *version; /* NULL: whatever the loader takes */
    _Atomic(void *) found;
} __attribute__((aligned(4 * sizeof(void *)))); /* they lie one behind the other */

/* Looks the function up. Where this C library lacks it: one that fails with -1 and ENOSYS. */
void *sc_loader_find(struct sc_next *next);

/* Looks up all functions that were not looked up yet. */
void sc_loader_find_all(void);

/* Is this thread within a look-up? The loader may allocate memory there, and allocators call us. */
bool sc_loader_is_looking(void);

/* The first version of glibc on this machine. */
#if defined(__x86_64__)
#define SC_GLIBC_FIRST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define SC_GLIBC_FIRST "GLIBC_2.17"
#else
#error "which version of glibc was the first on this machine?"
#endif

/* The version of what changed in `version` on x86-64. Before 2.36, glibc's RTLD_NEXT gives the
 * first one. */
#if defined(__x86_64__)
#define SC_GLIBC_SINCE(version) version
#else
#define SC_GLIBC_SINCE(version) SC_GLIBC_FIRST
#endif

#define SC_NEXT_RECORD(record, symbol_name, symbol_version)                                        \
    static struct sc_next record                                                                   \
        __attribute__((section("sc_nexts"))) = {symbol_name, symbol_version, NULL}
#define SC_NEXT_LATE_RECORD(record, symbol_name, symbol_version)                                   \
    static struct sc_next record                                                                   \
        __attribute__((section("sc_late_nexts"))) = {symbol_name, symbol_version, NULL}

/* NULL: the function was not looked up yet. */
static inline void *sc_loader_found(const struct sc_next *next)
{
    return atomic_load_explicit(&next->found, memory_order_relaxed);
}

static inline void *sc_loader_get(struct sc_next *next)
{
    void *found = sc_loader_found(next);
    return __builtin_expect(!found, 0) ? sc_loader_find(next) : found;
}

/* The next function of this name (a string), of the type `pointer`. */
#define SC_NEXT(pointer, symbol_name)                                                              \
    __extension__({                                                                                \
        SC_NEXT_RECORD(next_, symbol_name, NULL);                                                  \
        (pointer) sc_loader_get(&next_);                                                           \
    })

#endif

/* Finds the C library's and the loader's own functions behind the hooks of the same names.
 *
 * dlsym and dlvsym of this object are ours. The real dlvsym is read from the symbol table of the
 * object that has it, and finds the real dlsym by version. A successful look-up neither allocates
 * nor takes a lock that a caller of dlsym could hold. Look-ups with RTLD_NEXT start behind this
 * object. Safe before any constructor has run, from any thread. */
#ifndef SC_INTERPOSE_BASE_LOADER_H
#define SC_INTERPOSE_BASE_LOADER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The types of the real dlsym and dlvsym. They tell from their return address which object asks, so
 * they must be called by whoever asks. */
typedef void *sc_dlsym_function(void *handle, const char *name);
typedef void *sc_dlvsym_function(void *handle, const char *name, const char *version);
sc_dlsym_function *sc_loader_dlsym(void);
sc_dlvsym_function *sc_loader_dlvsym(void);

/* dlsym past our hook. NULL if there is no such symbol; then dlerror() is set, as by dlsym. */
void *sc_loader_symbol(void *handle, const char *name);

/* The next definition of a libc function behind this object; never NULL for a function that libc
 * has. */
void *sc_loader_next(const char *name);

/* The function that our hook of this name calls; NULL if nothing behind this object has the name.
 */
void *sc_loader_real(const char *name);

/* Has a hook of ours this name, while libc lacks the function? */
bool sc_loader_is_absent(const char *name);

/* Is the function only a jump in the program (a PLT entry)? A program that is not
 * position-independent has such a jump for each function whose address it takes, and dlsym returns
 * the jump, too. Where the jump leads is not known. */
bool sc_loader_is_stub(const void *function);

/* A libc function that a hook of ours stands before.
 *
 * A look-up takes the loader's lock, and nobody expects munmap or _exit to wait for a constructor
 * in another thread. So all functions are looked up before the first thread is made, and at the
 * first sign of CUDA. Our constructor looks up only functions that programs often call in signal
 * handlers. The others (late) would cost every process as much as one that calls them. A call that
 * comes earlier looks up its function itself.
 */
struct sc_next {
    const char *name;
    const char *version; /* NULL: the version that the loader takes by itself */
    _Atomic(void *) found;
} __attribute__((aligned(4 * sizeof(void *)))); /* the records of a section form an array */

/* Looks the function up. If this C library lacks it, returns a function that fails with -1 and
 * ENOSYS. */
void *sc_loader_find(struct sc_next *next);

/* Looks up all functions that have not been found yet. */
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

/* For a function that exists in several versions on x86-64: the version to ask for, since glibc
 * before 2.36 gives the oldest for RTLD_NEXT. */
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

/* The function of this name (a string) behind our hook, as a pointer of type `pointer`. It is
 * looked up once. */
#define SC_NEXT(pointer, symbol_name)                                                              \
    __extension__({                                                                                \
        SC_NEXT_RECORD(next_, symbol_name, NULL);                                                  \
        (pointer) sc_loader_get(&next_);                                                           \
    })

#endif

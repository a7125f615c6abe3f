/* Finds the functions of the C library and the loader that the library hooks under the same names
 * ("the real functions").
 *
 * dlsym and dlvsym of this object are the library's. The real dlvsym is read from the symbol table
 * of the object that has it, and finds the real dlsym by version. A successful look-up neither
 * allocates nor takes a lock that a caller of dlsym could hold. Look-ups with RTLD_NEXT begin after
 * this object in load order. Safe before any constructor has run, from any thread. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 */

#ifndef SC_INTERPOSE_BASE_LOADER_H
#define SC_INTERPOSE_BASE_LOADER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The real dlsym and dlvsym, and their types. By their return address they find which object calls
 * them, so that object must call them itself. */
typedef void *sc_dlsym_function(void *handle, const char *name);
typedef void *sc_dlvsym_function(void *handle, const char *name, const char *version);
sc_dlsym_function *sc_loader_dlsym(void);
sc_dlvsym_function *sc_loader_dlvsym(void);

/* Calls the real dlsym, in place of the library's own, which returns hooks. Returns NULL if there
 * is no such symbol; then dlerror() is set. */
void *sc_loader_symbol(void *handle, const char *name);

/* Returns the next definition of a libc function after this object; never NULL for a function that
 * libc has. */
void *sc_loader_next(const char *name);

/* Returns the real function that the hook of this name calls; NULL if there is none. */
void *sc_loader_real(const char *name);

/* Has a hook of the library this name, while libc lacks the function? A program that asks whether
 * libc has the function must then not find the hook. */
bool sc_loader_is_absent(const char *name);

/* Is the address only a jump in the program (a PLT entry)? A program that is not
 * position-independent has such a jump for each function whose address it takes, and dlsym returns
 * the jump, too. Where it leads is not known. */
bool sc_loader_is_stub(const void *function);

/* The real function of a hook, in libc.
 *
 * A look-up takes the loader's lock, and nobody expects munmap or _exit to wait for a constructor
 * in another thread. So all functions are looked up before the first thread is created, and at the
 * first sign of CUDA. The library's constructor looks up only functions that programs often call in
 * signal handlers; the others ("late") would cost time in every process. A call that comes earlier
 * looks up its function itself. */
struct sc_next {
    const char *name;
    const char *version; /* NULL: the version that the loader chooses */
    _Atomic(void *) found;
} __attribute__((aligned(4 * sizeof(void *)))); /* the records of a section form an array */

/* Looks up the function. If this C library lacks it, returns a function that fails with -1 and
 * ENOSYS. */
void *sc_loader_find(struct sc_next *next);

/* Looks up all real functions that have not been found yet. To be called at the first sign of CUDA:
 * a look-up takes the loader's lock, for which no hook should wait later. */
void sc_loader_find_all(void);

/* Is this thread within a look-up of a real function? The loader may allocate memory there, and
 * allocators call hooks, which must not begin another look-up. */
bool sc_loader_is_looking(void);

/* The first symbol version of glibc on this machine. */
#if defined(__x86_64__)
#define SC_GLIBC_FIRST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define SC_GLIBC_FIRST "GLIBC_2.17"
#else
#error "which version of glibc was the first on this machine?"
#endif

/* For a function that exists in several versions on x86-64: the version to look up, since glibc
 * before 2.36 returns the oldest one for RTLD_NEXT. */
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

/* Returns the real function; NULL: it was not looked up yet. */
static inline void *sc_loader_found(const struct sc_next *next)
{
    return atomic_load_explicit(&next->found, memory_order_relaxed);
}

/* Returns the real function of a hook, which the first call looks up. */
static inline void *sc_loader_get(struct sc_next *next)
{
    void *found = sc_loader_found(next);
    return __builtin_expect(!found, 0) ? sc_loader_find(next) : found;
}

/* Evaluates to the real function of this name (a string), as a pointer of type `pointer`. It is
 * looked up once. */
#define SC_NEXT(pointer, symbol_name)                                                              \
    __extension__({                                                                                \
        SC_NEXT_RECORD(next_, symbol_name, NULL);                                                  \
        (pointer) sc_loader_get(&next_);                                                           \
    })

#endif

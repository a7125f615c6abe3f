/*
 * An interposer of the library's shape that does nothing: it stands at the same doors, forwards
 * every call, and so shows in the benchmarks what standing there costs, before any of our own work.
 *
 * Like the library it answers dlsym for driver functions with wrappers of its own, tests one flag
 * in each hook, and leaves by a tail jump. dlsym has to: any other return address would change what
 * RTLD_NEXT means for its caller. That holds at -O2 without instrumentation only.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

extern void __libc_free(void *block);
extern void *__libc_realloc(void *block, size_t size);

typedef void *dlsym_function(void *restrict handle, const char *restrict name);

/* Where a real library would turn to its slow path; here it never is. */
static atomic_bool armed;
static _Atomic(dlsym_function *) next_dlsym;

static inline bool nothing_to_do(void)
{
    return __builtin_expect(!atomic_load_explicit(&armed, memory_order_relaxed), 1);
}

/* ---- libc ---- */

EXPORT void free(void *block)
{
    if (nothing_to_do())
        __libc_free(block);
}

EXPORT void *realloc(void *block, size_t size)
{
    return nothing_to_do() ? __libc_realloc(block, size) : NULL;
}

EXPORT int munmap(void *address, size_t size)
{
    return nothing_to_do() ? (int)syscall(SYS_munmap, address, size) : -1;
}

/* ---- the driver ---- */

/* symbol, parameters, arguments */
#define WRAPPED(X)                                                                                 \
    X(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t size, CUstream stream),      \
      (to, from, size, stream))                                                                    \
    X(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t size, CUstream stream),            \
      (to, from, size, stream))                                                                    \
    X(cuLaunchKernel,                                                                              \
      (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,       \
       unsigned bz, unsigned shared, CUstream stream, void **params, void **extra),                \
      (function, gx, gy, gz, bx, by, bz, shared, stream, params, extra))                           \
    X(cuMemFreeHost, (void *block), (block))

#define REAL(symbol, params, args) _Atomic(__typeof__(symbol) *) symbol;
static struct real {
    WRAPPED(REAL)
} real;

static dlsym_function *find_dlsym(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    void *found = NULL;

    for (size_t i = 0; !found && i < sizeof versions / sizeof versions[0]; i++)
        found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    atomic_store_explicit(&next_dlsym, (dlsym_function *)found, memory_order_release);
    return (dlsym_function *)found;
}

static inline dlsym_function *real_dlsym(void)
{
    dlsym_function *next = atomic_load_explicit(&next_dlsym, memory_order_acquire);

    return next ? next : find_dlsym();
}

/* A program linked against libcuda comes to the wrapper without ever calling dlsym. */
__attribute__((noinline, cold)) static void *find_linked(const char *name)
{
    return real_dlsym()(RTLD_NEXT, name);
}

#define WRAPPER(symbol, params, args)                                                              \
    EXPORT CUresult symbol params                                                                  \
    {                                                                                              \
        __typeof__(symbol) *next = atomic_load_explicit(&real.symbol, memory_order_relaxed);       \
        if (!next && !(next = (__typeof__(symbol) *)find_linked(#symbol)))                         \
            return CUDA_ERROR_NOT_INITIALIZED;                                                     \
        return next args;                                                                          \
    }
WRAPPED(WRAPPER)

/* The wrapper of `name`, with what the program would have got as what it forwards to. */
__attribute__((noinline)) static void *wrapper_of(void *handle, const char *name)
{
    void *found = real_dlsym()(handle, name);

#define ANSWER(symbol, params, args)                                                               \
    if (found && strcmp(name, #symbol) == 0) {                                                     \
        if (found != (void *)symbol)                                                               \
            atomic_store_explicit(&real.symbol, (__typeof__(symbol) *)found,                       \
                                  memory_order_relaxed);                                           \
        return (void *)symbol;                                                                     \
    }
    WRAPPED(ANSWER)
    return found;
}

EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    if (handle != RTLD_NEXT && handle != RTLD_DEFAULT && name[0] == 'c' && name[1] == 'u')
        return wrapper_of(handle, name);
    return real_dlsym()(handle, name);
}

/* Looking functions up by name, and saying which of them are the same without printing addresses.
 */
#ifndef SC_TESTS_SURVIVAL_LOOKUP_H
#define SC_TESTS_SURVIVAL_LOOKUP_H

#include "survival.h"

#include <cuda.h>
#include <dlfcn.h>

typedef CUresult init_function(unsigned flags);
typedef CUresult count_function(int *count);
typedef CUresult lookup_v1_function(const char *name, void **function, int version,
                                    cuuint64_t flags);
typedef CUresult lookup_v2_function(const char *name, void **function, int version,
                                    cuuint64_t flags, CUdriverProcAddressQueryResult *status);

/* The version of what a processor's libc has had from its beginning. */
#ifdef __x86_64__
#define GLIBC_FIRST "GLIBC_2.2.5"
#else
#define GLIBC_FIRST "GLIBC_2.17"
#endif

static SURVIVAL_HELPER void *open_or_exit(const char *library, int flags)
{
    void *handle = dlopen(library, flags);
    if (!handle) {
        printf("dlopen: %s\n", dlerror());
        fflush(stdout);
        _exit(3);
    }
    return handle;
}

/* A function pointer out of a void pointer; ISO C has no cast for it. */
#define AS(type, pointer) (*(type **)&(pointer))

static SURVIVAL_HELPER bool is_of_libc(void *function)
{
    Dl_info where;
    return dladdr(function, &where) != 0 && strstr(where.dli_fname, "libc.so") != NULL;
}

/* 0 for NULL; else a small number, the same for the same address, in order of first appearance. */
static SURVIVAL_HELPER int which(void *address)
{
    static void *seen[512];
    int i = 0;
    if (!address)
        return 0;
    while (i < 511 && seen[i] && seen[i] != address)
        i++;
    seen[i] = address;
    return i + 1;
}

/* cuInit and cuDeviceGetCount through the given functions. */
static SURVIVAL_HELPER void show_count(const char *who, void *init, void *count)
{
    int devices = -1;
    if (!init || !count) {
        printf("%s: not found\n", who);
        return;
    }
    int started = (int)AS(init_function, init)(0);
    int counted = (int)AS(count_function, count)(&devices);
    printf("%s: init %d, count %d, %d devices\n", who, started, counted, devices);
}

#endif

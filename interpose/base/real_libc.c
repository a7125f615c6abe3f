#include "interpose/base/real_libc.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include "interpose/base/loader.h"
#include "interpose/base/process.h"

typedef int munmap_function(void *address, size_t size_bytes);

static void find_free(void *block);
static void *find_realloc(void *block, size_t size_bytes);

struct sc_allocator sc_allocator = {.free = find_free, .realloc = find_realloc};

static __thread bool looking_up;

static bool same_object(void *left, void *right)
{
    Dl_info left_info;
    Dl_info right_info;
    return left && right && dladdr(left, &left_info) && dladdr(right, &right_info) &&
           left_info.dli_fbase == right_info.dli_fbase;
}

/* The size of a block is asked of the allocator that it came from, or not at all. */
static void look_up(void)
{
    looking_up = true;
    void *next_free = sc_loader_next("free");
    void *next_usable = sc_loader_next("malloc_usable_size");
    atomic_store(&sc_allocator.malloc, (void *(*)(size_t))sc_loader_next("malloc"));
    void *next_realloc = sc_loader_next("realloc");
    atomic_store(&sc_allocator.realloc, (void *(*)(void *, size_t))next_realloc);
    atomic_store(&sc_allocator.empty_is_freed,
                 same_object(next_realloc, (void *)gnu_get_libc_version));
    if (same_object(next_free, next_usable))
        atomic_store(&sc_allocator.usable_size, (size_t(*)(void *))next_usable);
    atomic_store(&sc_allocator.free, (void (*)(void *))next_free);
    looking_up = false;
}

/* A block freed by the look-up itself is lost: a few bytes, once. */
static void find_free(void *block)
{
    if (looking_up)
        return;
    look_up();
    sc_real_libc_free(block);
}

static void *find_realloc(void *block, size_t size_bytes)
{
    if (looking_up)
        return NULL;
    look_up();
    return sc_real_libc_realloc(block, size_bytes);
}

/* Nearly always too late to be the first, for the loader frees as well. */
static __attribute__((constructor)) void find_all(void)
{
    if (atomic_load(&sc_allocator.free) == find_free)
        look_up();
}

/* Whoever is behind us may do it by a system call by number, which comes back to us. */
void sc_real_libc_unmap(void *address, size_t size_bytes)
{
    SC_INSIDE();
    SC_NEXT(munmap_function *, "munmap")(address, size_bytes);
}

#include "interpose/base/real_libc.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include "interpose/base/loader.h"
#include "interpose/base/process.h"

typedef int munmap_function(void *address, size_t size_bytes);

static void free_first(void *block);
static void *realloc_first(void *block, size_t size_bytes);

struct sc_allocator sc_allocator = {.free = free_first, .realloc = realloc_first};

static __thread bool is_looking_up;

/* Do both functions belong to the same library, as those of one allocator? */
static bool are_of_one_object(void *left, void *right)
{
    Dl_info left_info;
    Dl_info right_info;
    return left && right && dladdr(left, &left_info) && dladdr(right, &right_info) &&
           left_info.dli_fbase == right_info.dli_fbase;
}

/* Looks up the allocator's functions that the hooks of free and the like call. malloc_usable_size
 * is used only if it is of the allocator that frees the block: the program may have replaced some
 * of its functions. `is_looking_up` is set meanwhile, as the loader may call free or realloc
 * itself. */
static void look_up_all(void)
{
    is_looking_up = true;
    void *next_free = sc_loader_next("free");
    void *next_usable = sc_loader_next("malloc_usable_size");
    atomic_store(&sc_allocator.malloc, (void *(*)(size_t))sc_loader_next("malloc"));
    void *next_realloc = sc_loader_next("realloc");
    atomic_store(&sc_allocator.realloc, (void *(*)(void *, size_t))next_realloc);
    atomic_store(&sc_allocator.empty_is_freed,
                 are_of_one_object(next_realloc, (void *)gnu_get_libc_version));
    if (are_of_one_object(next_free, next_usable))
        atomic_store(&sc_allocator.usable_size, (size_t(*)(void *))next_usable);
    atomic_store(&sc_allocator.free, (void (*)(void *))next_free);
    is_looking_up = false;
}

/* Handles the first call of free: looks up the real one. A block that the look-up itself frees
 * (is_looking_up) is lost: a few bytes, once. */
static void free_first(void *block)
{
    if (is_looking_up)
        return;
    look_up_all();
    sc_real_libc_free(block);
}

/* Handles the first call of realloc: looks up the real one. A realloc within the look-up itself
 * (is_looking_up) fails, as there is nothing to call yet. */
static void *realloc_first(void *block, size_t size_bytes)
{
    if (is_looking_up)
        return NULL;
    look_up_all();
    return sc_real_libc_realloc(block, size_bytes);
}

/* Looks up the allocator when the library is loaded, unless a call of free came before: the loader
 * frees memory before constructors run. */
static __attribute__((constructor)) void look_up_early(void)
{
    if (atomic_load(&sc_allocator.free) == free_first)
        look_up_all();
}

/* Calls the next munmap after the library's hook. That may be another library's hook, which makes
 * the system call by syscall(), and the library hooks that, too: within SC_INSIDE it only passes
 * the call on. */
void sc_real_libc_unmap(void *address, size_t size_bytes)
{
    SC_INSIDE();
    SC_NEXT(munmap_function *, "munmap")(address, size_bytes);
}

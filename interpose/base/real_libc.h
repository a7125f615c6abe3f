/* Calls the real memory functions, of the C library or another allocator, that the library hooks.
 *
 * They work before any constructor has run: the loader calls free as soon as this object is loaded.
 * Thread-safe. Locks: the allocator's, so not for a signal handler. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 */

#ifndef SC_INTERPOSE_BASE_REAL_LIBC_H
#define SC_INTERPOSE_BASE_REAL_LIBC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The allocator's real functions. `usable_size` NULL: it has no function for a block's size. malloc
 * is NULL until free or realloc is first called. */
struct sc_allocator {
    _Atomic(void (*)(void *block)) free;
    _Atomic(void *(*)(void *block, size_t size_bytes)) realloc;
    _Atomic(void *(*)(size_t size_bytes)) malloc;
    _Atomic(size_t (*)(void *block)) usable_size;
    _Atomic bool empty_is_freed; /* realloc(block, 0) frees the block, as in glibc */
};

extern struct sc_allocator sc_allocator __attribute__((visibility("hidden")));

/* Frees the block by the allocator's own function, past the library's hook. */
static inline void sc_real_libc_free(void *block)
{
    atomic_load_explicit(&sc_allocator.free, memory_order_relaxed)(block);
}

/* Changes the block's size by the allocator's own function, past the library's hook. */
static inline void *sc_real_libc_realloc(void *block, size_t size_bytes)
{
    return atomic_load_explicit(&sc_allocator.realloc, memory_order_relaxed)(block, size_bytes);
}

/* Calls the real munmap. */
void sc_real_libc_unmap(void *address, size_t size_bytes);

#endif

/* A page allocator: every block is its own mapping-aligned run of a large arena, nothing is reused,
 * and there is no header to look at. Counts the frees of blocks that it never gave out. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int allocator_foreign_frees(void);

enum { PAGE = 4096 };
static const size_t ARENA = (size_t)64 << 30;

static _Atomic(char *) arena;
static atomic_size_t used;
static atomic_int foreign;

static char *arena_base(void)
{
    char *base = atomic_load(&arena);
    if (base)
        return base;
    void *fresh = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED)
        return NULL;
    if (!atomic_compare_exchange_strong(&arena, &base, fresh))
        munmap(fresh, ARENA);
    return atomic_load(&arena);
}

/* The first page of a run keeps its size, the caller gets what follows. */
static void *take(size_t size)
{
    char *base = arena_base();
    size_t run = PAGE + (size + PAGE - 1) / PAGE * PAGE;
    if (!base || size > ARENA) {
        errno = ENOMEM;
        return NULL;
    }
    size_t begin = atomic_fetch_add(&used, run);
    if (begin + run > ARENA) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(base + begin, &size, sizeof size);
    return base + begin + PAGE;
}

void *malloc(size_t size)
{
    return take(size);
}

void *calloc(size_t count, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return take(all);
}

void *memalign(size_t alignment, size_t size)
{
    char *block = take(size + alignment);
    if (!block || alignment <= PAGE)
        return block;
    return (void *)(((size_t)block + alignment - 1) / alignment * alignment);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

void free(void *block)
{
    char *base = atomic_load(&arena);
    if (block && (!base || (char *)block < base || (char *)block >= base + ARENA))
        atomic_fetch_add(&foreign, 1);
}

void *realloc(void *block, size_t size)
{
    size_t old = 0;
    char *moved = take(size);
    if (!moved || !block)
        return moved;
    memcpy(&old, (char *)block - PAGE, sizeof old);
    memcpy(moved, block, old < size ? old : size);
    free(block);
    return moved;
}

int allocator_foreign_frees(void)
{
    return atomic_load(&foreign);
}

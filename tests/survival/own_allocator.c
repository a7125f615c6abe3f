// expect-exit: 0
//
// The program defines malloc and free itself, without headers and without malloc_usable_size:
// blocks are page-aligned when large and the program's own counters must see every call.
#include "survival.h"

#include <stdatomic.h>

static char arena[256u << 20] __attribute__((aligned(4096)));
static atomic_size_t used;
static atomic_int freed;

void *malloc(size_t size)
{
    size_t step = size >= 4096 ? 4096 : 16;
    size_t rounded = (size + step - 1) / step * step;
    size_t begin = atomic_fetch_add(&used, rounded + step);
    begin = (begin + step - 1) / step * step;
    if (size > sizeof arena || begin + rounded > sizeof arena) {
        errno = ENOMEM;
        return NULL;
    }
    return arena + begin;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size); /* the arena is zero and nothing is used twice */
}

void *realloc(void *block, size_t size)
{
    char *moved = (char *)malloc(size);
    size_t limit = block ? (size_t)(arena + sizeof arena - (char *)block) : 0;
    for (size_t i = 0; moved && i < size && i < limit; i++)
        moved[i] = ((char *)block)[i];
    return moved;
}

void free(void *block)
{
    if (block && ((char *)block < arena || (char *)block >= arena + sizeof arena))
        abort();
    atomic_fetch_add(&freed, block != NULL);
}

void *memalign(size_t alignment, size_t size);

void *memalign(size_t alignment, size_t size)
{
    return malloc(alignment > 16 && size < 4096 ? 4096 : size);
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

int main(void)
{
    use_cuda("first");
    int before = atomic_load(&freed);
    churn(200);
    SHOW(atomic_load(&freed) > before);
    use_cuda("second");
    return 0;
}

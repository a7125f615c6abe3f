/* malloc and its family, forwarded to what dlsym(RTLD_NEXT) finds the first time that any of them
 * is called. What dlsym itself needs until then comes from a small buffer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
/* volatile: dlsym is declared a leaf, so the compiler thinks that it cannot lead back here. */
static volatile int looking;

static char buffer[16384] __attribute__((aligned(16)));
static size_t buffer_used;

static void *from_buffer(size_t size)
{
    size_t begin = buffer_used;
    buffer_used += (size + 15) / 16 * 16;
    return buffer_used <= sizeof buffer ? buffer + begin : NULL;
}

static int in_buffer(const void *block)
{
    return (const char *)block >= buffer && (const char *)block < buffer + sizeof buffer;
}

/* False while the look-up that this call belongs to is itself under way. */
static int ready(void)
{
    if (next_free)
        return 1;
    if (looking)
        return 0;
    looking = 1;
    *(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
    *(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
    (void)dlsym(RTLD_NEXT, "dlsym_allocator_no_such_function"); /* sets dlerror: allocates */
    *(void **)&next_free = dlsym(RTLD_NEXT, "free");
    looking = 0;
    return 1;
}

void *malloc(size_t size)
{
    return ready() ? next_malloc(size) : from_buffer(size);
}

void *calloc(size_t count, size_t size)
{
    return ready() ? next_calloc(count, size) : from_buffer(count * size);
}

void free(void *block)
{
    if (block && !in_buffer(block) && ready())
        next_free(block);
}

void *realloc(void *block, size_t size)
{
    if (!in_buffer(block) && ready())
        return next_realloc(block, size);
    void *moved = malloc(size);
    if (moved && block)
        memcpy(moved, block, size);
    return moved;
}

/* Opened with RTLD_DEEPBIND, and with a function of its own that bears a name of libc's: its calls
 * are for that one. */
#include <stdlib.h>

unsigned sc_deep_frees;
void sc_deep_free_some(void *const *blocks, unsigned count);
void *sc_deep_allocate(size_t size_bytes);
const void *sc_deep_address(void);

void free(void *block)
{
    sc_deep_frees += block != NULL;
}

void sc_deep_free_some(void *const *blocks, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        free(blocks[i]);
}

/* The compiler is not to see that libc's realloc is meant. */
void *sc_deep_allocate(size_t size_bytes)
{
    void *(*volatile grow)(void *, size_t) = realloc;
    return grow(NULL, size_bytes);
}

const void *sc_deep_address(void)
{
    return (const void *)free;
}

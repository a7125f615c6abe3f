/* Its constructor, which runs with the loader's lock held, calls the program: SC_CONSTRUCT is the
 * address of a function. */
#include <stdint.h>
#include <stdlib.h>

static __attribute__((constructor)) void construct(void)
{
    const char *address = getenv("SC_CONSTRUCT");
    if (address)
        ((void (*)(void))(uintptr_t)strtoull(address, NULL, 16))();
}

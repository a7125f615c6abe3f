#include "interpose/loader.h"

#include "track/poison.h"

/* The linker names the ends of the section that SC_NEXT fills. */
extern struct sc_next nexts_begin[] __asm__("__start_sc_nexts")
    __attribute__((visibility("hidden")));
extern struct sc_next nexts_end[] __asm__("__stop_sc_nexts") __attribute__((visibility("hidden")));

void *sc_loader_find(struct sc_next *next)
{
    void *found = sc_loader_next(next->name);
    atomic_store_explicit(&next->found, found, memory_order_relaxed);
    return found;
}

static __attribute__((constructor)) void find_all(void)
{
    for (struct sc_next *next = nexts_begin; next < nexts_end; next++)
        sc_loader_find(next);
}

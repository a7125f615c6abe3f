/* The origin (track/origins.h) of memory or a stream that the present wrapper's call makes.
 *
 * Thread-safe, not signal-safe: a stack is taken. errno is kept. No lock of the library's may be
 * held. */
#ifndef SC_INTERPOSE_DRIVER_MADE_HERE_H
#define SC_INTERPOSE_DRIVER_MADE_HERE_H

#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/base/stack_cache.h"
#include "interpose/base/unwind.h"
#include "report/annotations.h"

struct sc_call;

/* The origin of what the call makes. */
uint32_t sc_made_here(const struct sc_call *call);

/* The same, if the stack was seen before. `site` and `depth` as for sc_unwind_known. NULL:
 * sc_made_here_at has to take the stack, with the same arguments. */
SC_INLINED const struct sc_stack_known *sc_made_here_before(const char *api, void *site,
                                                            uintptr_t depth)
{
    const struct sc_stack_known *known = sc_unwind_known(site, depth);
    return sc_likely(known && known->api == api && known->label == sc_annotations_label_here())
               ? known
               : NULL;
}

uint32_t sc_made_here_at(const char *api, void *site, uintptr_t depth);

#endif

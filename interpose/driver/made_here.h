/* Returns the origin (track/origins.h: a call and its stack) of memory or a stream that the calling
 * wrapper's call makes.
 *
 * Thread-safe, not signal-safe: a stack is taken. errno is kept. No lock of the library's may be
 * held. */

/* Terms (docs/glossary.md):
 *   origin: the call that made a buffer or a stream, with its stack
 *   site: the address to which a hook or wrapper returns: the program's call
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_DRIVER_MADE_HERE_H
#define SC_INTERPOSE_DRIVER_MADE_HERE_H

#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/base/stack_cache.h"
#include "interpose/base/unwind.h"
#include "report/annotations.h"

struct sc_call;

/* Returns the origin of what the call makes. */
uint32_t sc_made_here(const struct sc_call *call);

/* Returns the known stack, with the origin, if the same call was made from the same stack before.
 * `site` and `depth`: as for sc_unwind_known. NULL: the caller has to call sc_made_here_at, which
 * takes the stack, with the same arguments. */
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

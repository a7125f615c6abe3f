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

/* Returns the origin of the memory or stream that the program's call makes. */
uint32_t sc_made_here(const struct sc_call *call);

/* Returns the recognised stack, with the origin, if the same call was made from the same stack
 * under the same label before. NULL: the caller has to call sc_made_here_at, which takes the stack,
 * with the same arguments. `site`: the program's call; `depth`: an address in the wrapper's frame
 * (sc_unwind_known). */
SC_INLINED const struct sc_stack_known *sc_made_here_before(const char *api, void *site,
                                                            uintptr_t depth)
{
    const struct sc_stack_known *known = sc_unwind_known(site, depth);
    return sc_likely(known && known->api == api && known->label == sc_annotations_label_here())
               ? known
               : NULL;
}

/* Returns the origin of what the call makes. `site` NULL: the library makes the call for itself,
 * and the origin has no stack. */
uint32_t sc_made_here_at(const char *api, void *site, uintptr_t depth);

#endif

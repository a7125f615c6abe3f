#include "interpose/driver/made_here.h"

#include "interpose/driver/call.h"
#include "track/origins.h"

#include "common/poison.h"

/* Returns the origin (call, stack and label) of what a call makes. A call that the library makes
 * for itself has no `site`, and no stack. */
uint32_t sc_made_here_at(const char *api, void *site, uintptr_t depth)
{
    uint32_t label = sc_annotations_label_here();
    return site ? sc_unwind_origin_at(api, site, label, depth) : sc_origins_put(api, 0, label);
}

/* Returns the origin (call, stack and label) of what the program's call makes; quickly, if the same
 * call came from the same stack before. */
__attribute__((noinline)) uint32_t sc_made_here(const struct sc_call *call)
{
    uintptr_t depth = (uintptr_t)__builtin_frame_address(0);
    const struct sc_stack_known *known = sc_made_here_before(call->api, call->site, depth);
    return sc_likely(known != NULL) ? known->origin : sc_made_here_at(call->api, call->site, depth);
}

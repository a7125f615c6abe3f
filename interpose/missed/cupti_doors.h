/* Wraps the functions of CUPTI that profilers call, so that the library stops using CUPTI before
 * they use it.
 *
 * CUPTI allows one subscriber, and one client that gets activity records. Before a tool subscribes,
 * registers for records, enables some, or finalizes CUPTI, the library gives up its own
 * subscription or records. So the tool's call succeeds as without the library.
 *
 * Wrapped are cuptiSubscribe, cuptiSubscribe_v2, cuptiActivityRegisterCallbacks,
 * cuptiActivityEnable, cuptiActivityEnableContext and cuptiFinalize, both for programs that link
 * libcupti and for those that look these functions up by dlsym.
 *
 * Thread-safe. Locks: CUPTI's subscription (cupti_hooks/subscription.h); the last two functions
 * below take the loader's. Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_MISSED_CUPTI_DOORS_H
#define SC_INTERPOSE_MISSED_CUPTI_DOORS_H

#include <stdbool.h>

/* Is the name one of libcupti's functions? Pure. */
static inline bool sc_cupti_doors_is_cupti(const char *name)
{
    return name[0] == 'c' && name[1] == 'u' && name[2] == 'p' && name[3] == 't' && name[4] == 'i';
}

/* Returns what the library's dlsym must return for a function of libcupti that it has found through
 * a handle, as `found`: the wrapper, or `found` itself. NULL: `found` is the wrapper, and the
 * handle's search order has no libcupti. Not for RTLD_DEFAULT and RTLD_NEXT, whose results depend
 * on the caller. */
void *sc_cupti_doors_found(void *handle, const char *name, void *found);

/* Is the library's wrapper the only function of this name that RTLD_DEFAULT would find for the code
 * at `caller`? */
bool sc_cupti_doors_only_ours(const char *name, const void *caller);

#endif

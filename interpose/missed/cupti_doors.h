/* The doors through which profilers come to CUPTI.
 *
 * CUPTI has one subscriber, and one client that gets activity records. Before a tool subscribes,
 * registers for records, enables some or tears CUPTI down, we give ours up, so that its call does
 * what it does without us. Wrapped are cuptiSubscribe, cuptiSubscribe_v2,
 * cuptiActivityRegisterCallbacks, cuptiActivityEnable, cuptiActivityEnableContext and
 * cuptiFinalize, for those who link libcupti and for those who ask dlsym.
 */
#ifndef SC_INTERPOSE_MISSED_CUPTI_DOORS_H
#define SC_INTERPOSE_MISSED_CUPTI_DOORS_H

#include <stdbool.h>

/* Is it a name of libcupti's? */
static inline bool sc_cupti_doors_is_cupti(const char *name)
{
    return name[0] == 'c' && name[1] == 'u' && name[2] == 'p' && name[3] == 't' && name[4] == 'i';
}

/* What dlsym is to answer for a function of libcupti that it found through a handle; not one of
 * RTLD_DEFAULT and RTLD_NEXT, whose answers depend on the caller. */
void *sc_cupti_doors_found(void *handle, const char *name, void *found);

/* Would RTLD_DEFAULT find the function of libcupti for the code at `caller` only because of us? */
bool sc_cupti_doors_only_ours(const char *name, const void *caller);

#endif

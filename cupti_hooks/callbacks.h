/* CUPTI's callbacks. They run on the threads of the program, on its hottest paths.
 *
 * The callbacks take no lock and allocate nothing. A driver call within a wrapper is counted and
 * leaves its correlation id (current_call.h). A driver call outside of every wrapper is handed to
 * `missed`. A runtime call leaves its name until it returns. Not for a signal handler. */
#ifndef SC_CUPTI_HOOKS_CALLBACKS_H
#define SC_CUPTI_HOOKS_CALLBACKS_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

struct sc_missed_call;

/* Above all callback ids: CUDA 13.0 has 807 in one domain and fewer in the other. */
enum { SC_CBID_MAX = 2048 };

/* Sets the function that is told of calls that no wrapper carried. Pre: no callback has run yet. */
void sc_callbacks_start(void (*missed)(const struct sc_missed_call *call, bool entering));

/* Does the audit count calls of the driver function? */
bool sc_callbacks_is_audited(const char *driver_function);

/* Makes the audit count the calls with this callback id. */
void sc_callbacks_audit(uint32_t id);

/* Is the runtime function one whose name hazards should carry? */
bool sc_callbacks_is_named(const char *runtime_function);

/* The callback function that CUPTI is given. */
void CUPTIAPI sc_callbacks_receive(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void *about);

/* Stores the number of audited calls that wrappers carried, and of those that no wrapper carried.
 */
void sc_callbacks_counts(uint64_t *wrapped, uint64_t *missed);

#endif

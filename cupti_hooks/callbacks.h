/* The callbacks that CUPTI calls. They run on the threads of the program, on its hottest paths.
 *
 * They take no lock and allocate nothing. They count each driver call that a wrapper makes and
 * store its correlation id (current_call.h). A driver call outside of every wrapper is passed to
 * `missed`. The name of a runtime call is stored until it returns. Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   audit: the comparison of the driver calls that CUPTI shows with those that wrappers carried
 *   carry: of a wrapper: to note a driver call, so that the call is not counted as missed
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_CUPTI_HOOKS_CALLBACKS_H
#define SC_CUPTI_HOOKS_CALLBACKS_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

struct sc_missed_call;

/* A number above all callback ids: CUDA 13.0 has 807 in one domain and fewer in the other. */
enum { SC_CBID_MAX = 2048 };

/* Sets the function that is called for driver calls that no wrapper has made. Pre: no callback has
 * run yet. */
void sc_callbacks_start(void (*missed)(const struct sc_missed_call *call, bool entering));

/* Does the audit (interpose/missed/audit.h) count calls of the driver function? */
bool sc_callbacks_is_audited(const char *driver_function);

/* Makes the audit count the calls with this callback id. */
void sc_callbacks_audit(uint32_t id);

/* Should hazards carry the name of this runtime function? */
bool sc_callbacks_is_named(const char *runtime_function);

/* The callback function that is registered with CUPTI. `about`: what CUPTI says of the call or of
 * the event, by domain. */
void CUPTIAPI sc_callbacks_receive(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void *about);

/* Stores how many audited calls wrappers made, and how many others did. */
void sc_callbacks_counts(uint64_t *wrapped, uint64_t *missed);

#endif

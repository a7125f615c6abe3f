/* The callbacks that CUPTI calls. They run on the threads of the program, on its hottest paths.
 *
 * They take no lock and allocate nothing. They count each driver call that a wrapper makes and
 * store its correlation id (current_call.h). A driver call outside of every wrapper is passed to
 * `missed`. The name of a runtime call is stored until it returns. Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   audit: the comparison of the driver calls that CUPTI shows with those that wrappers carried
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

/* Must calls of this driver function come through a wrapper, so that those with and those without
 * one are counted (the audit, interpose/missed/audit.h)? */
bool sc_callbacks_is_audited(const char *driver_function);

/* Has calls of the driver function with this callback id counted, those with a wrapper and those
 * without. */
void sc_callbacks_audit(uint32_t id);

/* Should reports of hazards name this runtime function, in place of the driver's function that it
 * calls? */
bool sc_callbacks_is_named(const char *runtime_function);

/* The callback function that is registered with CUPTI. `about`: what CUPTI says of the call or of
 * the event, by domain. */
void CUPTIAPI sc_callbacks_receive(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void *about);

/* Stores how many of the counted driver calls (sc_callbacks_audit) wrappers have made, and how many
 * came past them. */
void sc_callbacks_counts(uint64_t *wrapped, uint64_t *missed);

#endif

/* The callbacks of CUPTI, on the threads of the program, on its hottest paths.
 *
 * They take no lock and allocate nothing. A driver call within a wrapper is counted and leaves its
 * correlation id; one outside of every wrapper is handed to `missed`. A runtime call leaves its
 * name for as long as it takes.
 */
#ifndef SC_CUPTI_HOOKS_CALLBACKS_H
#define SC_CUPTI_HOOKS_CALLBACKS_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

struct sc_missed_call;

enum { SC_CBID_MAX = 2048 }; /* CUDA 13.0 has 807 in one domain and fewer in the other */

/* Before the first callback: who is told of calls that passed by. */
void sc_callbacks_start(void (*missed)(const struct sc_missed_call *call, bool entering));

/* Is the driver function among those that the audit is about? */
bool sc_callbacks_is_audited(const char *driver_function);
void sc_callbacks_audit(uint32_t id);

/* Is the runtime function one whose name hazards should carry? */
bool sc_callbacks_is_named(const char *runtime_function);

void CUPTIAPI sc_callbacks_hear(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void *about);

void sc_callbacks_counts(uint64_t *wrapped, uint64_t *missed);

#endif

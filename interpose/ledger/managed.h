/* Reports managed memory that is meant to lie on a device and does not fit there (SC602).
 *
 * If CUPTI reports page faults (um=1, moves.h), memory without advice counts as meant for the
 * devices that fault on it, once one of these has had to evict pages for want of room.
 *
 * At most one report for each device. Locks: none may be held; takes the report's. errno is kept.
 * Thread-safe, not signal-safe. */

/* Terms (docs/glossary.md):
 *   not watched: of an operation: an early touch of it could not be seen
 */

#ifndef SC_INTERPOSE_LEDGER_MANAGED_H
#define SC_INTERPOSE_LEDGER_MANAGED_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

struct sc_call;
struct sc_context;
struct sc_managed_news;

/* Notes managed memory that the call has allocated in that context. */
void sc_managed_given(const struct sc_call *call, CUdeviceptr address, size_t bytes,
                      const struct sc_context *context);

/* Judges whether the managed memory that devices are meant to hold fits there (SC602). Called
 * before a managed block is freed; the block is not watched any more, even if the driver refuses
 * the free. */
void sc_managed_leaves(CUdeviceptr address);

/* Note where the program wants managed memory to lie: advice (cuMemAdvise), and a prefetch. Called
 * when the call has succeeded. */
void sc_managed_advised(const struct sc_call *call, CUdeviceptr address, size_t bytes,
                        CUmem_advise advice, CUmemLocation location);
void sc_managed_prefetched(const struct sc_call *call, CUdeviceptr address, size_t bytes,
                           CUmemLocation location);

/* Notes that the memory was discarded, or allocated for the host: no device is meant to hold it
 * until a call or a record of CUPTI says otherwise. */
void sc_managed_lies_nowhere(CUdeviceptr address, size_t bytes);

/* Returns the location that the arguments of calls from before CUDA 12.2 name. */
CUmemLocation sc_managed_location(CUdevice device);

/* Forgets the memory of a context that has ended. Does not call the driver. */
void sc_managed_context_ended(const struct sc_context *context);

/* Notes one record of CUPTI about managed memory. Called on a thread of CUPTI's that holds a lock
 * of CUPTI's; takes a lock only briefly. */
void sc_managed_note_news(const struct sc_managed_news *news);

/* Returns true if any managed memory is allocated. Lock-free. */
bool sc_managed_is_there(void);

/* Judges, by the page faults that CUPTI has reported, whether memory without advice fits on the
 * devices that use it (SC602). Called on a thread of the library's, when CUPTI has delivered its
 * records. */
void sc_managed_judge_faults(void);

/* Judges for the last time whether managed memory fits on its devices: the process ends. Does not
 * call the driver. */
void sc_managed_end(void);

#endif

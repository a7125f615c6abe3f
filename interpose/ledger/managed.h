/* Reports managed memory that a device is to hold and that is more than it has (SC602).
 *
 * Where CUPTI tells of page faults (um=1, moves.h), what nobody has said anything of is to lie on
 * the devices that fault on it, once one of them has had to give pages up for others.
 *
 * A device is told of once. Locks: none may be held; the report's is taken. errno is kept.
 * Thread-safe, not signal-safe. */
#ifndef SC_INTERPOSE_LEDGER_MANAGED_H
#define SC_INTERPOSE_LEDGER_MANAGED_H

#include <stdbool.h>
#include <stddef.h>

#include "interpose/driver/driver.h"

struct sc_call;
struct sc_context;
struct sc_managed_news;

/* The call has given it, in that context. */
void sc_managed_given(const struct sc_call *call, CUdeviceptr address, size_t bytes,
                      const struct sc_context *context);

/* Called before a managed block is freed: judges what the devices are to hold. The block is looked
 * at no more, even if the driver refuses the free. */
void sc_managed_leaves(CUdeviceptr address);

/* The call has succeeded. */
void sc_managed_advised(const struct sc_call *call, CUdeviceptr address, size_t bytes,
                        CUmem_advise advice, CUmemLocation location);
void sc_managed_prefetched(const struct sc_call *call, CUdeviceptr address, size_t bytes,
                           CUmemLocation location);

/* The memory was discarded, or allocated for the host: no device is to hold it until a call or a
 * record of CUPTI's says otherwise. */
void sc_managed_lies_nowhere(CUdeviceptr address, size_t bytes);

/* The location that the arguments from before CUDA 12.2 name. */
CUmemLocation sc_managed_location(CUdevice device);

/* The context is gone, and its memory with it. Calls no driver. */
void sc_managed_context_ended(const struct sc_context *context);

/* CUPTI tells of it, in one record. On a thread of CUPTI's, whose lock is held: takes a brief one.
 */
void sc_managed_note_news(const struct sc_managed_news *news);

/* Is any allocated? Lock-free. */
bool sc_managed_is_there(void);

/* CUPTI has told what there was to tell. On a thread of the library's. */
void sc_managed_judge_faults(void);

/* The process ends. Calls no driver. */
void sc_managed_end(void);

#endif

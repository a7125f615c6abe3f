/* Reports why an allocation has failed for want of memory (the `oom` line), for the 1st, 2nd, 4th,
 * ... failure.
 *
 * The program gets its error, and nothing else changes. The driver is asked, in relaxed mode.
 * Locks: none may be held; if the calling thread holds one, nothing is reported. errno is kept. Not
 * signal-safe. */

/* Terms (docs/glossary.md):
 *   give back: to make the real call that frees held memory
 */

#ifndef SC_INTERPOSE_LEDGER_SHORTAGE_H
#define SC_INTERPOSE_LEDGER_SHORTAGE_H

#include "interpose/base/compiler.h"
#include "interpose/driver/driver.h"
#include "interpose/ledger/booking.h"

struct sc_call;
struct sc_memory;

/* Notes that the program has made the device's graphs give back memory that they had reserved: a
 * later failure is not explained by that memory. */
void sc_shortage_graphs_trimmed(CUdevice device);

/* Reports the failed allocation. For sc_shortage_refused. */
void sc_shortage_note(const struct sc_call *call, const struct sc_memory *memory);

/* Called when the driver has refused to give the memory that a call asks for, with `result`. Only a
 * want of memory is reported, and nothing with memory=off. */
static inline void sc_shortage_refused(const struct sc_call *call, const struct sc_memory *memory,
                                       CUresult result)
{
    if (sc_unlikely(result == CUDA_ERROR_OUT_OF_MEMORY) && sc_booking_is_on())
        sc_shortage_note(call, memory);
}

#endif

/* The library without a preload: with CUDA_INJECTION64_PATH=libsafecopy.so the driver loads it.
 *
 * Then no call comes through a wrapper, and no function of libc through a hook. All that is known
 * comes from CUPTI's callbacks (replay.h). Hazards of CUDA's own frees, of unordered operations and
 * of captures are reported, and frees wait for what is in flight.
 *
 * Thread-safe, not signal-safe. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   hook: our function in the place of one of the C library's
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   replay: to run the wrapper of a missed call for what it notes, without the call
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_ENTRY_INJECTED_H
#define SC_INTERPOSE_ENTRY_INJECTED_H

#include <stdbool.h>

/* Returns true if this copy of the library was preloaded, so that the program's calls find its
 * functions. Takes the loader's lock. */
bool sc_is_preloaded(void);

#endif

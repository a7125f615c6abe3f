/* The library without a preload: CUDA_INJECTION64_PATH=libsafecopy.so has the driver load it.
 *
 * Then no call comes through a wrapper, and no function of libc's through a hook. Everything that
 * is known comes from CUPTI's callbacks (replay.h). Hazards of CUDA's own frees, of unordered
 * operations and of captures are reported, and frees wait for what is in flight.
 *
 * Thread-safe, not signal-safe.
 */
#ifndef SC_INTERPOSE_ENTRY_INJECTED_H
#define SC_INTERPOSE_ENTRY_INJECTED_H

#include <stdbool.h>

/* Was this copy of the library preloaded, so that the program's calls find its functions? Takes the
 * loader's lock. */
bool sc_is_preloaded(void);

#endif

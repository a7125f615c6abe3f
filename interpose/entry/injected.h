/* The library without a preload: with CUDA_INJECTION64_PATH=libsafecopy.so the driver loads it.
 *
 * Then no call comes through a wrapper, and no function of libc through a hook. All that is known
 * comes from CUPTI's callbacks (replay.h). Hazards of CUDA's own frees, of unordered operations and
 * of captures are reported, and frees wait for what is in flight.
 *
 * Thread-safe, not signal-safe. */
#ifndef SC_INTERPOSE_ENTRY_INJECTED_H
#define SC_INTERPOSE_ENTRY_INJECTED_H

#include <stdbool.h>

/* Returns true if this copy of the library was preloaded, so that the program's calls find its
 * functions. Takes the loader's lock. */
bool sc_is_preloaded(void);

#endif

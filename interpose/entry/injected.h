/* Without a preload: CUDA_INJECTION64_PATH=libsafecopy.so has the driver load the library.
 *
 * No call comes through a wrapper then, and no hook of libc's is met. All that is known is what
 * CUPTI's callbacks tell (replay.h): hazards of CUDA's own frees, of unordered operations and of
 * captures are reported, and frees wait for what is in flight.
 */
#ifndef SC_INTERPOSE_ENTRY_INJECTED_H
#define SC_INTERPOSE_ENTRY_INJECTED_H

#include <stdbool.h>

/* Is this copy of the library in the program's sight? Takes the loader's lock. */
bool sc_is_preloaded(void);

#endif

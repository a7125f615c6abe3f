/* The real driver: where its functions are, and how calls find our wrappers.
 *
 * sc_real has a typed pointer for every row of api.def; NULL: this driver lacks the function.
 * Attaching happens once, when a program first reaches for the driver through any door. Until then
 * nothing here costs anything. The driver stays loaded from then on, since the pointers must stay
 * valid.
 *
 * Thread-safe. Locks: as sc_driver_attach says. A signal handler may read sc_real, and call nothing
 * here.
 */
#ifndef SC_INTERPOSE_DRIVER_DRIVER_H
#define SC_INTERPOSE_DRIVER_DRIVER_H

#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/driver/newer_cuda.h"

struct sc_real {
#define SC_ROW(symbol, name, version, variant, replay, arguments)                                  \
    PFN_##name##_v##version##variant symbol;
#define SC_USED(symbol, name, version) PFN_##name##_v##version symbol;
#include "interpose/driver/api.def"
};

extern struct sc_real sc_real;

/* Declares our wrappers, with the types of the table: a wrong signature does not compile. The
 * exported symbol itself is a jump (exported_doors.h). */
#define SC_ROW(symbol, name, version, variant, replay, arguments)                                  \
    __typeof__(*(PFN_##name##_v##version##variant)0) symbol __asm__("sc_wrapper_" #symbol);
#include "interpose/driver/api.def"

/* Attaches to the driver: the one in `handle` (of dlopen), or with NULL the one that is loaded
 * already. False: there is none; calls through our exported symbols then return
 * CUDA_ERROR_NOT_FOUND. Takes the loader's lock the first time, and holds none of ours meanwhile.
 */
bool sc_driver_attach(void *handle);

/* Our wrapper of the driver function at `real`, or `real` itself. Before attaching, and in
 * mode=off, always `real`. */
void *sc_driver_wrapper_of(void *real);

/* Is the function a wrapper of ours? */
bool sc_driver_is_wrapper(const void *function);

/* Is there a wrapper of this name? */
bool sc_driver_wraps(const char *symbol);

/* The largest CUDA version that the program has named to cuGetProcAddress, which is its runtime's.
 */
int sc_driver_runtime_version(void);
void sc_driver_note_version(int version);

/* Does the driver have this function? Attaches first, for a wrapper that is called before anything
 * else has looked for the driver. `real_slot`: the function's place in sc_real. */
bool sc_driver_has(const void *real_slot);

#define SC_HAVE(symbol) (sc_likely(sc_real.symbol != NULL) || sc_driver_has(&sc_real.symbol))

/* Did the driver refuse because something captures? */
static inline bool sc_driver_is_capture_error(CUresult result)
{
    return result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
           result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

#endif

/* The real driver: where its functions are, and how calls reach the library's wrappers.
 *
 * sc_real has a typed pointer for each row of api.def; NULL if this driver lacks the function. The
 * library attaches to the driver once, when the program first looks up or calls a function of it.
 * Until then nothing here costs anything. From then on the driver stays loaded, since the pointers
 * must stay valid.
 *
 * Thread-safe. Locks: as sc_driver_attach says. A signal handler may read sc_real, and call nothing
 * here. */

/* Terms (docs/glossary.md):
 *   wrapper: our function in the place of one of the driver's
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

/* Declares the wrappers, with the types of the table, so that a wrong signature does not compile.
 * The exported symbol of the same name is a jump to the wrapper (exported_doors.h). */
#define SC_ROW(symbol, name, version, variant, replay, arguments)                                  \
    __typeof__(*(PFN_##name##_v##version##variant)0) symbol __asm__("sc_wrapper_" #symbol);
#include "interpose/driver/api.def"

/* Attaches to the driver: to the one with this handle of dlopen, or with NULL to the one that is
 * loaded already. Returns false if there is none; calls through the exported symbols then return
 * CUDA_ERROR_NOT_FOUND. The first call takes the loader's lock, while it holds none of the
 * library's. */
bool sc_driver_attach(void *handle);

/* Returns the wrapper of the driver's function `real`, or `real` itself if it has none. Before
 * attaching, and in mode=off, returns `real`. */
void *sc_driver_wrapper_of(void *real);

/* Returns true if the function is a wrapper of the library's. */
bool sc_driver_is_wrapper(const void *function);

/* Returns true if the library has a wrapper of the driver's function of this name. */
bool sc_driver_wraps(const char *symbol);

/* sc_driver_runtime_version returns the largest CUDA version that the program has passed to
 * cuGetProcAddress, which is that of its runtime; the other function notes one. */
int sc_driver_runtime_version(void);
void sc_driver_note_version(int version);

/* Returns true if the driver has this function. Attaches to the driver first, for a wrapper that is
 * called before anything else has looked for it. `real_slot`: the address of the function's member
 * of sc_real. */
bool sc_driver_has(const void *real_slot);

#define SC_HAVE(symbol) (sc_likely(sc_real.symbol != NULL) || sc_driver_has(&sc_real.symbol))

/* Returns true if the driver has refused a call because of a capture. */
static inline bool sc_driver_is_capture_error(CUresult result)
{
    return result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
           result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

#endif

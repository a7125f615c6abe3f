/* How a wrapper is written: once for a function and its per-thread-stream variant.
 *
 * Bodies see `per_thread`, `REAL` (the real function) and `API` (its name). Every body reads alike:
 * observe, call the real one, record, return what it returned.
 */
#ifndef SC_INTERPOSE_DRIVER_WRAP_H
#define SC_INTERPOSE_DRIVER_WRAP_H

#include <stdbool.h>

#include "cupti_hooks/ear.h"
#include "interpose/base/compiler.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"

/* One function; BODY is an expression list of statements ending in a return. */
#define SC_DEFINE(symbol, parameters, ...)                                                         \
    CUresult symbol parameters                                                                     \
    {                                                                                              \
        if (!SC_HAVE(symbol))                                                                      \
            return CUDA_ERROR_NOT_FOUND;                                                           \
        SC_CARRY();                                                                                \
        const __typeof__(sc_real.symbol) REAL = SC_REAL(symbol);                                   \
        const char *const API = #symbol;                                                           \
        (void)API;                                                                                 \
        __VA_ARGS__                                                                                \
    }

/* The driver's function; where the driver has carried the call out already, its answer. */
#define SC_REAL(symbol)                                                                            \
    (sc_unlikely(carried_.place != 0) && sc_replay_takes()                                         \
         ? (__typeof__(sc_real.symbol))(void *)sc_replay_answer                                    \
         : sc_real.symbol)

#define SC_DEFINE2(symbol, variant, parameters, ...)                                               \
    SC_DEFINE(symbol, parameters, const bool per_thread = false; __VA_ARGS__)                      \
    SC_DEFINE(symbol##variant, parameters, const bool per_thread = true; __VA_ARGS__)

#endif

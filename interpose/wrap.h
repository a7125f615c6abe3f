/* How a wrapper is written: once for a function and its per-thread-stream variant.
 *
 * Bodies see `per_thread`, `REAL` (the real function) and `API` (its name). Every body reads alike:
 * observe, call the real one, record, return what it returned.
 */
#ifndef SC_INTERPOSE_WRAP_H
#define SC_INTERPOSE_WRAP_H

#include "cupti_hooks/ear.h"
#include "interpose/driver.h"
#include "interpose/unwind.h"

/* One function; BODY is an expression list of statements ending in a return. */
#define SC_DEFINE(symbol, parameters, ...)                                                         \
    CUresult symbol parameters                                                                     \
    {                                                                                              \
        if (!SC_HAVE(symbol))                                                                      \
            return CUDA_ERROR_NOT_FOUND;                                                           \
        const __typeof__(sc_real.symbol) REAL = sc_real.symbol;                                    \
        const char *const API = #symbol;                                                           \
        (void)API;                                                                                 \
        SC_CARRY();                                                                                \
        __VA_ARGS__                                                                                \
    }

#define SC_DEFINE2(symbol, variant, parameters, ...)                                               \
    SC_DEFINE(symbol, parameters, const bool per_thread = false; __VA_ARGS__)                      \
    SC_DEFINE(symbol##variant, parameters, const bool per_thread = true; __VA_ARGS__)

#endif

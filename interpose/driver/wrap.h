/* How a wrapper is written: a function like any other, whose prologue finds the driver's function.
 *
 *     CUresult cuEventQuery(CUevent event)
 *     {
 *         SC_WRAPPER(cuEventQuery);
 *         ...
 *         return real(event);
 *     }
 *
 * Behind the prologue a wrapper has `real`, the driver's function, and `call` (call.h). A function
 * and its per-thread-stream variant are one body, which gets both as arguments:
 *
 *     SC_PAIR(cuStreamQuery, _ptsz, (CUstream stream), (stream))
 *     {
 *         ...
 *         return real(stream);
 *     }
 *
 * Every wrapper reads alike: observe, call the real one, record, return what it returned. To call
 * `real` looks at the answer as well: an error that leaves the context unusable is told at once, as
 * long as what was in flight is still known (sc_postmortem_failed).
 *
 * Locks: a wrapper is called with none of the library's, on any thread, and not by a signal
 * handler.
 */

/* Terms (docs/glossary.md):
 *   in flight: issued, and the host does not know yet that it is done
 *   post-mortem: the report's line that says what was in flight when a context was lost
 *   replay: to run the wrapper of a missed call for what it notes, without the call
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_DRIVER_WRAP_H
#define SC_INTERPOSE_DRIVER_WRAP_H

#include <stdbool.h>

#include "cupti_hooks/current_call.h"
#include "interpose/base/compiler.h"
#include "interpose/base/upcalls.h"
#include "interpose/driver/call.h"
#include "interpose/driver/replaying.h"

#define SC_WRAPPER(symbol) SC_PROLOGUE(symbol, false)

#define SC_PROLOGUE(symbol, is_per_thread)                                                         \
    if (!SC_HAVE(symbol))                                                                          \
        return CUDA_ERROR_NOT_FOUND;                                                               \
    SC_CARRY();                                                                                    \
    const struct sc_call *const call = &(const struct sc_call){#symbol, SC_SITE(), is_per_thread}; \
    const __typeof__(sc_real.symbol) real = SC_REAL(symbol);                                       \
    (void)call

/* The driver's function that the wrapper has to call. In a replay (replaying.h), which runs a
 * wrapper for a call that the driver makes itself, it is a function that returns the driver's
 * answer. */
#define SC_REAL(symbol)                                                                            \
    (sc_unlikely(carried_.place != 0) && sc_replaying_takes_answer()                               \
         ? (__typeof__(sc_real.symbol))(void *)sc_replaying_answer                                 \
         : sc_real.symbol)

/* Looks at the driver's answer to a call of the program, as every wrapper does. At an error that
 * makes the context unusable, writes what was in flight to the report (the post-mortem), before the
 * wrapper forgets it. Returns the answer. */
static inline CUresult sc_wrap_check_answer(const struct sc_call *call, CUresult result)
{
    if (sc_unlikely(result != CUDA_SUCCESS))
        sc_postmortem_failed(call, result);
    return result;
}

#define real(...) sc_wrap_check_answer(call, real(__VA_ARGS__))

/* Makes the wrappers of a function and of its per-thread-stream variant from one body, which
 * follows. `arguments`: the names of the parameters. SC_HOT_PAIR, for the functions that programs
 * call most, has the body inlined into both. */
#define SC_PAIR(symbol, variant, parameters, arguments)                                            \
    SC_TWO(static, symbol, symbol##variant, true, parameters, arguments)

#define SC_HOT_PAIR(symbol, variant, parameters, arguments)                                        \
    SC_TWO(SC_INLINED, symbol, symbol##variant, true, parameters, arguments)

/* Does the same as SC_HOT_PAIR for functions most of whose calls are simple (enum
 * sc_simplicity: nothing but work on the call's own stream). The wrapper first calls
 * `symbol##_simply`, which returns true if it has made the call, with the result in `*result`. That
 * function gets the members of `call` one by one, so that they are in registers only if they are
 * used, and then the parameters. */
#define SC_SIMPLE_PAIR(symbol, variant, parameters, arguments)                                     \
    SC_TWO_OF(SC_SIMPLY(symbol, #symbol, false, arguments),                                        \
              SC_SIMPLY(symbol, #symbol #variant, true, arguments), SC_INLINED, symbol,            \
              symbol##variant, true, parameters, arguments)

#define SC_SIMPLY(symbol, api, is_per_thread, arguments)                                           \
    CUresult result_;                                                                              \
    if (sc_likely(symbol##_simply(SC_SIMPLE, api, SC_SITE(), is_per_thread, &result_,              \
                                  SC_LIST arguments)))                                             \
        return result_;

/* To be put first in the body of such a pair: calls `symbol##_simply` once more, for a process in
 * which CUPTI reports calls. */
#define SC_SIMPLY_BUT_HEARD(symbol, arguments)                                                     \
    CUresult result_;                                                                              \
    if ((sc_process_simplicity() & SC_SIMPLE_BUT_TRACED) && !sc_replaying_is_on() &&               \
        symbol##_simply(SC_SIMPLE_BUT_TRACED, call->api, call->site, call->per_thread, &result_,   \
                        SC_LIST arguments))                                                        \
    return result_

/* Makes the wrappers of two versions of a function that have the same parameters from one body. */
#define SC_VERSIONS(symbol, later, parameters, arguments)                                          \
    SC_TWO(static, symbol, later, false, parameters, arguments)

#define SC_TWO(kind, symbol, other, is_per_thread, parameters, arguments)                          \
    SC_TWO_OF(, , kind, symbol, other, is_per_thread, parameters, arguments)

#define SC_TWO_OF(first, first_of_other, kind, symbol, other, is_per_thread, parameters,           \
                  arguments)                                                                       \
    kind CUresult symbol##_body(const struct sc_call *call, __typeof__(sc_real.symbol) real,       \
                                SC_LIST parameters);                                               \
    CUresult symbol parameters                                                                     \
    {                                                                                              \
        first SC_PROLOGUE(symbol, false);                                                          \
        return symbol##_body(call, real, SC_LIST arguments);                                       \
    }                                                                                              \
    CUresult other parameters                                                                      \
    {                                                                                              \
        first_of_other SC_PROLOGUE(other, is_per_thread);                                          \
        return symbol##_body(call, real, SC_LIST arguments);                                       \
    }                                                                                              \
    kind CUresult symbol##_body(const struct sc_call *call, __typeof__(sc_real.symbol) real,       \
                                SC_LIST parameters)

#define SC_LIST(...) __VA_ARGS__

#endif

/*
 * How every exported function is written.
 *
 *     SIM_API(cuStreamDestroy_v2, (CUstream hStream), hStream) { body }
 *
 * expands to the exported function, which asks the gate, announces itself to the callback of
 * sim_hooks.h when there is one, and runs the body. Its prototype comes from cuda.h, so a wrong
 * signature does not compile.
 *
 * SIM_API_PTSZ and SIM_API_PTDS also define the per-thread-default-stream variant. Their bodies
 * see one more argument, `dflt`: the stream that handle 0 stands for in the variant called.
 * SIM_API_EARLY is for what may be called before cuInit, and SIM_API_VOID for no arguments.
 */
#ifndef SIM_API_H
#define SIM_API_H

#include "sim.h"
#include "sim_hooks.h"

#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>

#include "interpose/driver/newer_cupti.h"
#include "newer.h"

extern _Atomic(sim_callback *) sim_hook;

#define SIM_UNWRAP(...) __VA_ARGS__
#define SIM_CBID(symbol) CUPTI_DRIVER_TRACE_CBID_##symbol

#define SIM_ANNOUNCED(symbol, args, gate, call)                                                    \
    sim_callback *hook_ = atomic_load_explicit(&sim_hook, memory_order_relaxed);                   \
    CUresult result_ = gate;                                                                       \
    if (__builtin_expect(hook_ != NULL, 0)) {                                                      \
        hook_(1, SIM_CBID(symbol), #symbol, args, CUDA_SUCCESS);                                   \
    }                                                                                              \
    if (__builtin_expect(result_ == CUDA_SUCCESS, 1)) {                                            \
        result_ = call;                                                                            \
    }                                                                                              \
    if (__builtin_expect(hook_ != NULL, 0)) {                                                      \
        hook_(0, SIM_CBID(symbol), #symbol, args, result_);                                        \
    }                                                                                              \
    return result_;

/* A name of our own for what cuGetProcAddress hands out: the exported one may be interposed. */
#define SIM_OWN(symbol)                                                                            \
    extern __typeof__(symbol) sim_own_##symbol                                                     \
        __attribute__((alias(#symbol), visibility("hidden")));

#define SIM_EXPORTED(symbol, params, gate, call, ...)                                              \
    SIM_OWN(symbol)                                                                                \
    CUresult CUDAAPI symbol params                                                                 \
    {                                                                                              \
        symbol##_params args_ = {__VA_ARGS__};                                                     \
        SIM_ANNOUNCED(symbol, &args_, gate, call)                                                  \
    }

#define SIM_API(symbol, params, ...)                                                               \
    static CUresult do_##symbol params;                                                            \
    SIM_EXPORTED(symbol, params, sim_gate(), do_##symbol(__VA_ARGS__), __VA_ARGS__)                \
    static CUresult do_##symbol params

#define SIM_API_EARLY(symbol, params, ...)                                                         \
    static CUresult do_##symbol params;                                                            \
    SIM_EXPORTED(symbol, params, CUDA_SUCCESS, do_##symbol(__VA_ARGS__), __VA_ARGS__)              \
    static CUresult do_##symbol params

#define SIM_API_VOID(symbol)                                                                       \
    SIM_OWN(symbol)                                                                                \
    static CUresult do_##symbol(void);                                                             \
    CUresult CUDAAPI symbol(void)                                                                  \
    {                                                                                              \
        SIM_ANNOUNCED(symbol, NULL, sim_gate(), do_##symbol())                                     \
    }                                                                                              \
    static CUresult do_##symbol(void)

#define SIM_API_VARIANTS(symbol, thread_symbol, params, ...)                                       \
    static CUresult do_##symbol(CUstream dflt, SIM_UNWRAP params);                                 \
    SIM_EXPORTED(symbol, params, sim_gate(), do_##symbol(CU_STREAM_LEGACY, __VA_ARGS__),           \
                 __VA_ARGS__)                                                                      \
    SIM_EXPORTED(thread_symbol, params, sim_gate(),                                                \
                 do_##symbol(CU_STREAM_PER_THREAD, __VA_ARGS__), __VA_ARGS__)                      \
    static CUresult do_##symbol(CUstream dflt, SIM_UNWRAP params)

#define SIM_API_PTSZ(symbol, params, ...)                                                          \
    SIM_API_VARIANTS(symbol, symbol##_ptsz, params, __VA_ARGS__)
#define SIM_API_PTDS(symbol, params, ...)                                                          \
    SIM_API_VARIANTS(symbol, symbol##_ptds, params, __VA_ARGS__)

#endif

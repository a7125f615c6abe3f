/* The wrappers of memory.def: forward, and tell. */
#include "interpose/calls/memory.h"
#include "interpose/capture/permits.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"

#include "track/poison.h"

#define CALL_FORBIDDEN(call) SC_PERMITTED(call)
#define CALL_ALLOWED(call) (call)

#define MEMORY(kind, name, size_bytes, of)                                                         \
    (&(const struct sc_memory){SC_MEMORY_##kind, (uintptr_t)(name), size_bytes, (uintptr_t)(of)})

#define SC_GIVES(symbol, capture, kind, name, size_bytes, of, parameters, arguments)               \
    CUresult symbol parameters                                                                     \
    {                                                                                              \
        SC_WRAPPER(symbol);                                                                        \
        CUresult result = CALL_##capture(real arguments);                                          \
        if (result == CUDA_SUCCESS)                                                                \
            sc_memory_given(call, MEMORY(kind, name, size_bytes, of));                             \
        return result;                                                                             \
    }

#define SC_TAKES(symbol, capture, kind, name, size_bytes, of, parameters, arguments)               \
    CUresult symbol parameters                                                                     \
    {                                                                                              \
        SC_WRAPPER(symbol);                                                                        \
        sc_memory_leaves(call, MEMORY(kind, name, size_bytes, of));                                \
        CUresult result = CALL_##capture(real arguments);                                          \
        sc_memory_left(MEMORY(kind, name, size_bytes, of), result == CUDA_SUCCESS);                \
        return result;                                                                             \
    }

#define SC_RESERVES(symbol, capture, kind, parameters, arguments)                                  \
    CUresult symbol parameters                                                                     \
    {                                                                                              \
        SC_WRAPPER(symbol);                                                                        \
        CUresult result = CALL_##capture(real arguments);                                          \
        if (result == CUDA_SUCCESS)                                                                \
            sc_memory_reserved(call, SC_MEMORY_##kind);                                            \
        return result;                                                                             \
    }

#include "interpose/calls/memory.def"

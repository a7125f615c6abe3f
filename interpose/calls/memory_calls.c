/* Calls that give memory, take it back or have the driver reserve some: forward, and tell. And
 * those that are wrapped for one reason, that no capture permits them (docs/driver.md). */
#include "interpose/calls/memory.h"
#include "interpose/capture/permits.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/rows.h"
#include "interpose/driver/wrap.h"

#include "track/poison.h"

#define CALL_FORBIDDEN(call) SC_PERMITTED(call)
#define CALL_ALLOWED(call) (call)

#define MEMORY(kind, name, size_bytes, of)                                                         \
    (&(const struct sc_memory){SC_MEMORY_##kind, (uintptr_t)(name), size_bytes, (uintptr_t)(of)})

#define SC_GIVES(symbol, name, version, replay, arguments, capture, kind, memory, bytes, of)       \
    CUresult symbol SC_PARAMETERS(symbol, arguments)                                               \
    {                                                                                              \
        SC_WRAPPER(symbol);                                                                        \
        CUresult result = CALL_##capture(real arguments);                                          \
        if (result == CUDA_SUCCESS)                                                                \
            sc_memory_given(call, MEMORY(kind, memory, bytes, of));                                \
        return result;                                                                             \
    }

#define SC_TAKES(symbol, name, version, replay, arguments, capture, kind, memory, bytes, of)       \
    CUresult symbol SC_PARAMETERS(symbol, arguments)                                               \
    {                                                                                              \
        SC_WRAPPER(symbol);                                                                        \
        sc_memory_leaves(call, MEMORY(kind, memory, bytes, of));                                   \
        CUresult result = CALL_##capture(real arguments);                                          \
        sc_memory_left(MEMORY(kind, memory, bytes, of), result == CUDA_SUCCESS);                   \
        return result;                                                                             \
    }

#define SC_RESERVES(symbol, name, version, arguments, capture, kind)                               \
    CUresult symbol SC_PARAMETERS(symbol, arguments)                                               \
    {                                                                                              \
        SC_WRAPPER(symbol);                                                                        \
        CUresult result = CALL_##capture(real arguments);                                          \
        if (result == CUDA_SUCCESS)                                                                \
            sc_memory_reserved(call, SC_MEMORY_##kind);                                            \
        return result;                                                                             \
    }

#define SC_FORBIDDEN(symbol, name, version, arguments)                                             \
    CUresult symbol SC_PARAMETERS(symbol, arguments)                                               \
    {                                                                                              \
        SC_WRAPPER(symbol);                                                                        \
        return SC_PERMITTED(real arguments);                                                       \
    }

#include "interpose/driver/api.def"

CUresult cuProfilerStart(void)
{
    SC_WRAPPER(cuProfilerStart);
    return SC_PERMITTED(real());
}

CUresult cuProfilerStop(void)
{
    SC_WRAPPER(cuProfilerStop);
    return SC_PERMITTED(real());
}

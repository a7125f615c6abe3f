/* Wrappers of calls that give memory, take it back, or make the driver reserve some: each is
 * forwarded and noted (memory.h). Also wrappers of calls that no capture permits (docs/driver.md),
 * which do nothing else. */

/* Terms (docs/glossary.md):
 *   ledger: which memory the process has, and which call stack asked for it
 */

#include "interpose/base/compiler.h"
#include "interpose/calls/host_memory.h"
#include "interpose/calls/memory.h"
#include "interpose/capture/permits.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/newer_cupti.h"
#include "interpose/driver/rows.h"
#include "interpose/driver/wrap.h"
#include "interpose/ledger/booking.h"
#include "interpose/ledger/limits.h"
#include "interpose/ledger/memory_kinds.h"
#include "interpose/ledger/shortage.h"

#include "common/poison.h"

/* ---- sizes of arrays, without what the driver adds ---- */

/* Returns the bytes of one channel of a CUDA array's elements; 0 for a format of blocks or planes,
 * whose size only the driver knows. */
static size_t channel_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

/* Returns an extent of an array, of which 0 means that the array does not have that dimension. */
static size_t at_least_one(size_t extent)
{
    return extent ? extent : 1;
}

/* Returns the bytes of a CUDA array's elements, for the ledger of memory. */
static size_t array_bytes(const CUDA_ARRAY_DESCRIPTOR *array)
{
    return array->Width * at_least_one(array->Height) * array->NumChannels *
           channel_bytes(array->Format);
}

/* Returns the bytes of all levels of a mipmapped array. There are fewer levels than asked for if a
 * level is down to one element. Layers are not halved from level to level. Sparse arrays, and those
 * that are mapped later, have no memory of their own: 0. */
static size_t mipmaps_bytes(const CUDA_ARRAY3D_DESCRIPTOR *array, unsigned levels)
{
    size_t width = array->Width, height = array->Height, depth = array->Depth, elements = 0;
    bool is_layered = array->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    if (array->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING))
        return 0;
    for (unsigned i = 0; i < at_least_one(levels); i++) {
        elements += width * at_least_one(height) * at_least_one(depth);
        if (width <= 1 && height <= 1 && (is_layered || depth <= 1))
            break;
        width = at_least_one(width / 2);
        height /= height > 1 ? 2 : 1;
        depth /= depth > 1 && !is_layered ? 2 : 1;
    }
    return elements * array->NumChannels * channel_bytes(array->Format);
}

/* ---- rows ---- */

#define CALL_FORBIDDEN(call) SC_PERMITTED(call)
#define CALL_ALLOWED(call) (call)

#define MEMORY(kind, name, size_bytes, of)                                                         \
    (&(const struct sc_memory){SC_MEMORY_##kind, (uintptr_t)(name), size_bytes, (uintptr_t)(of), 0})

#define SC_GIVES(name, suffix, version, replay, arguments, capture, kind, memory, bytes, of)       \
    CUresult name##suffix SC_PARAMETERS(name##suffix, arguments)                                   \
    {                                                                                              \
        SC_WRAPPER(name##suffix);                                                                  \
        const bool may_be_hosts = SC_MEMORY_##kind == SC_MEMORY_PHYSICAL;                          \
        struct sc_host_memory_room room = {0};                                                     \
        if (may_be_hosts)                                                                          \
            room = sc_host_memory_room();                                                          \
        CUresult result = CALL_##capture(real arguments);                                          \
        while (sc_unlikely(result == CUDA_ERROR_OUT_OF_MEMORY) && may_be_hosts &&                  \
               sc_host_memory_make_room(&room, MEMORY(kind, 0, bytes, of)))                        \
            result = CALL_##capture(real arguments);                                               \
        if (result == CUDA_SUCCESS)                                                                \
            sc_memory_given(call, MEMORY(kind, memory, bytes, of));                                \
        else if (sc_unlikely(result == CUDA_ERROR_OUT_OF_MEMORY))                                  \
            sc_shortage_refused(call, MEMORY(kind, 0, bytes, of), result);                         \
        return result;                                                                             \
    }

#define SC_TAKES(name, suffix, version, replay, arguments, capture, kind, memory, bytes, of)       \
    CUresult name##suffix SC_PARAMETERS(name##suffix, arguments)                                   \
    {                                                                                              \
        SC_WRAPPER(name##suffix);                                                                  \
        sc_memory_leaves(call, MEMORY(kind, memory, bytes, of));                                   \
        CUresult result = CALL_##capture(real arguments);                                          \
        sc_memory_left(MEMORY(kind, memory, bytes, of), sc_memory_is_taken(result));               \
        return result;                                                                             \
    }

#define SC_RESERVES(name, suffix, version, arguments, capture, kind)                               \
    CUresult name##suffix SC_PARAMETERS(name##suffix, arguments)                                   \
    {                                                                                              \
        SC_WRAPPER(name##suffix);                                                                  \
        CUresult result = CALL_##capture(real arguments);                                          \
        if (result == CUDA_SUCCESS)                                                                \
            sc_memory_reserved(call, SC_MEMORY_##kind);                                            \
        return result;                                                                             \
    }

#define SC_EXPORTS(name, suffix, version, arguments, capture, kind, memory)                        \
    CUresult name##suffix SC_PARAMETERS(name##suffix, arguments)                                   \
    {                                                                                              \
        SC_WRAPPER(name##suffix);                                                                  \
        CUresult result = CALL_##capture(real arguments);                                          \
        if (result == CUDA_SUCCESS)                                                                \
            sc_memory_exported(call, MEMORY(kind, memory, 0, 0));                                  \
        return result;                                                                             \
    }

#define NEW SC_LIMITS_NEW

/* A primary context is named by its device, plus 1 so that it is not 0. */
#define PRIMARY(device) ((device) + 1)

/* Called behind a call that has made a context: enters the context into the ledger of memory, and
 * sets its limits (size of the device's heap, of stacks) if options say so. */
static void context_made(const struct sc_call *call, uintptr_t handle, CUdevice device, int primary)
{
    sc_memory_given(call, &(const struct sc_memory){SC_MEMORY_CONTEXT, handle, 0, 0, device + 1});
    sc_memory_reserved(call, SC_MEMORY_CONTEXT);
    if (sc_unlikely(sc_limits_are_wanted()))
        sc_limits_apply(call, primary);
}

#define SC_MAKES_CONTEXT(name, suffix, version, arguments, primary, handle)                        \
    CUresult name##suffix SC_PARAMETERS(name##suffix, arguments)                                   \
    {                                                                                              \
        SC_WRAPPER(name##suffix);                                                                  \
        bool is_new =                                                                              \
            (sc_booking_is_on() || sc_limits_are_wanted()) && sc_limits_are_due(primary);          \
        CUresult result = real arguments;                                                          \
        if (is_new && result == CUDA_SUCCESS)                                                      \
            context_made(call, (uintptr_t)(handle), dev, primary);                                 \
        return result;                                                                             \
    }

#define SC_FORBIDDEN(name, suffix, version, arguments)                                             \
    CUresult name##suffix SC_PARAMETERS(name##suffix, arguments)                                   \
    {                                                                                              \
        SC_WRAPPER(name##suffix);                                                                  \
        return SC_PERMITTED(real arguments);                                                       \
    }

#include "interpose/driver/api.def"

/* Sets a limit of the context, for which the driver may reserve memory of the device. */
CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    SC_WRAPPER(cuCtxSetLimit);
    sc_limits_change_begins();
    CUresult result = SC_PERMITTED(real(limit, value));
    if (result == CUDA_SUCCESS)
        sc_memory_reserved(call, SC_MEMORY_LIMIT);
    sc_limits_changed(call, limit, value, result);
    return result;
}

/* The driver may load the kernel, and reserve memory for it, when its function is asked for. NCCL
 * asks before each launch, so a function that was met before is not noted again. */
CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    SC_WRAPPER(cuKernelGetFunction);
    CUresult result = real(function, kernel);
    if (result == CUDA_SUCCESS && !sc_limits_has_asked(*function))
        sc_memory_reserved(call, SC_MEMORY_FUNCTION);
    return result;
}

/* From now on the driver logs its errors to the program: the library must cause none by questions.
 */
CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData,
                                CUlogsCallbackHandle *callback)
{
    SC_WRAPPER(cuLogsRegisterCallback);
    sc_limits_errors_are_logged(); /* before the call, after which errors are logged at once */
    return real(callbackFunc, userData, callback);
}

/* Wrapped only because no capture permits the call: SC_PERMITTED makes it in the relaxed mode. */
CUresult cuProfilerStart(void)
{
    SC_WRAPPER(cuProfilerStart);
    return SC_PERMITTED(real());
}

/* Wrapped only because no capture permits the call: SC_PERMITTED makes it in the relaxed mode. */
CUresult cuProfilerStop(void)
{
    SC_WRAPPER(cuProfilerStop);
    return SC_PERMITTED(real());
}

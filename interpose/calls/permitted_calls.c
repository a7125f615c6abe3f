/* Calls that no capture permits, and that have nothing to do with copies. */
#include "interpose/calls/device_memory.h"
#include "interpose/capture/beside.h"
#include "interpose/capture/permits.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"

#include "track/poison.h"

static void note_made(const struct sc_call *call, CUdeviceptr address, size_t size_bytes)
{
    sc_device_memory_made(call, address, size_bytes);
    if (sc_beside_is_asked())
        sc_beside_allocated(address, size_bytes);
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    SC_WRAPPER(cuMemAlloc_v2);
    CUresult result = SC_PERMITTED(real(address, bytes));
    if (result == CUDA_SUCCESS)
        note_made(call, *address, bytes);
    return result;
}

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor)
{
    SC_WRAPPER(cuArrayCreate_v2);
    return SC_PERMITTED(real(array, descriptor));
}

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    SC_WRAPPER(cuArray3DCreate_v2);
    return SC_PERMITTED(real(array, descriptor));
}

CUresult cuArrayDestroy(CUarray array)
{
    SC_WRAPPER(cuArrayDestroy);
    return SC_PERMITTED(real(array));
}

CUresult cuModuleUnload(CUmodule module)
{
    SC_WRAPPER(cuModuleUnload);
    return SC_PERMITTED(real(module));
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
    SC_WRAPPER(cuMemPoolCreate);
    return SC_PERMITTED(real(pool, properties));
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes)
{
    SC_WRAPPER(cuMemPoolTrimTo);
    return SC_PERMITTED(real(pool, bytes));
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                            unsigned element)
{
    SC_WRAPPER(cuMemAllocPitch_v2);
    CUresult result = SC_PERMITTED(real(address, pitch, width, height, element));
    if (result == CUDA_SUCCESS)
        note_made(call, *address, *pitch * height);
    return result;
}

/* External memory: a file of shared memory, which other parties map as well. Graphics drivers have
 * objects of their own, of which nothing is known here. */
#include "api.h"
#include "capture.h"
#include "virtual.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct CUextMemory_st {
    uint32_t magic;
    int file;
    size_t size;
};

static bool is_external(CUexternalMemory memory)
{
    return memory && memory->magic == MAGIC_EXTERNAL;
}

/* The descriptor is the driver's from now on. */
SIM_API(cuImportExternalMemory,
        (CUexternalMemory * extMem_out, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc),
        extMem_out, memHandleDesc)
{
    struct stat status;
    if (!extMem_out || !memHandleDesc || memHandleDesc->size == 0 ||
        memHandleDesc->flags & ~(unsigned)CUDA_EXTERNAL_MEMORY_DEDICATED)
        return CUDA_ERROR_INVALID_VALUE;
    if (memHandleDesc->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD)
        return CUDA_ERROR_NOT_SUPPORTED;
    SIM_REFUSED_IN_A_CAPTURE();
    if (fstat(memHandleDesc->handle.fd, &status) != 0 ||
        (uint64_t)status.st_size < memHandleDesc->size)
        return CUDA_ERROR_UNKNOWN;
    CUexternalMemory memory = calloc(1, sizeof *memory);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory->magic = MAGIC_EXTERNAL;
    memory->file = memHandleDesc->handle.fd;
    memory->size = memHandleDesc->size;
    *extMem_out = memory;
    return CUDA_SUCCESS;
}

SIM_API(cuExternalMemoryGetMappedBuffer,
        (CUdeviceptr * devPtr, CUexternalMemory extMem,
         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *bufferDesc),
        devPtr, extMem, bufferDesc)
{
    if (!devPtr || !bufferDesc || !is_external(extMem) || bufferDesc->flags ||
        bufferDesc->size == 0 || bufferDesc->offset > extMem->size ||
        bufferDesc->size > extMem->size - bufferDesc->offset)
        return CUDA_ERROR_INVALID_VALUE;
    CUcontext context = sim_context_current();
    sim_lock();
    CUresult result = sim_context_valid_locked(context) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS) {
        struct sim_range like = {
            .kind = MEMORY_DEVICE, .device = context->device, .context = context, .shared = true};
        *devPtr =
            sim_virtual_share_locked(extMem->file, bufferDesc->offset, bufferDesc->size, &like);
        result = *devPtr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_unlock();
    return result;
}

/* Buffers of it live on until they are freed. */
SIM_API(cuDestroyExternalMemory, (CUexternalMemory extMem), extMem)
{
    SIM_REFUSED_IN_A_CAPTURE();
    if (!is_external(extMem))
        return CUDA_ERROR_INVALID_VALUE;
    close(extMem->file);
    extMem->magic = 0;
    free(extMem);
    return CUDA_SUCCESS;
}

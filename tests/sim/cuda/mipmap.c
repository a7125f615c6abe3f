/* Mipmapped arrays: arrays of half the size each, as deep as the first one has halves. */
#include "array.h"

#include "api.h"
#include "capture.h"
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#define LEVELS 32

struct CUmipmappedArray_st {
    uint32_t magic;
    unsigned count;
    CUDA_ARRAY3D_DESCRIPTOR description;
    CUarray levels[LEVELS];
};

static unsigned levels_of(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    size_t side = d->Width > d->Height ? d->Width : d->Height;
    unsigned count = 1;
    side = side > d->Depth ? side : d->Depth;
    while (side > 1) {
        side /= 2;
        count++;
    }
    return count;
}

static size_t half(size_t side)
{
    return side > 1 ? side / 2 : side;
}

static void destroy(CUmipmappedArray array)
{
    for (unsigned i = 0; i < array->count; i++)
        sim_array_destroy(array->levels[i]);
    array->magic = 0;
    free(array);
}

SIM_API(cuMipmappedArrayCreate,
        (CUmipmappedArray * pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
         unsigned int numMipmapLevels),
        pHandle, pMipmappedArrayDesc, numMipmapLevels)
{
    if (!pHandle || !pMipmappedArrayDesc || pMipmappedArrayDesc->Width == 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR level = *pMipmappedArrayDesc;
    unsigned most = levels_of(&level);
    unsigned count = numMipmapLevels < most ? numMipmapLevels : most;
    count = count ? count : 1;
    CUmipmappedArray array = calloc(1, sizeof *array);
    if (!array)
        return CUDA_ERROR_OUT_OF_MEMORY;
    array->magic = MAGIC_MIPMAPS;
    array->description = level;
    for (; array->count < count; array->count++) {
        CUresult result = sim_array_create(&array->levels[array->count], &level, true);
        if (result != CUDA_SUCCESS) {
            destroy(array);
            return result;
        }
        level.Width = half(level.Width);
        level.Height = half(level.Height);
        level.Depth = half(level.Depth);
    }
    *pHandle = array;
    return CUDA_SUCCESS;
}

SIM_API(cuMipmappedArrayGetLevel,
        (CUarray * pLevelArray, CUmipmappedArray hMipmappedArray, unsigned int level), pLevelArray,
        hMipmappedArray, level)
{
    if (!pLevelArray || !hMipmappedArray || hMipmappedArray->magic != MAGIC_MIPMAPS ||
        level >= hMipmappedArray->count)
        return CUDA_ERROR_INVALID_VALUE;
    *pLevelArray = hMipmappedArray->levels[level];
    return CUDA_SUCCESS;
}

SIM_API(cuMipmappedArrayDestroy, (CUmipmappedArray hMipmappedArray), hMipmappedArray)
{
    if (!hMipmappedArray || hMipmappedArray->magic != MAGIC_MIPMAPS)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = sim_array_wait();
    if (result == CUDA_SUCCESS)
        destroy(hMipmappedArray);
    return result;
}

/* ---- what deferred arrays need ---- */

#define TILE ((size_t)64 << 10)

static size_t tiles(size_t bytes)
{
    return (bytes + TILE - 1) & ~(TILE - 1);
}

SIM_API(cuArrayGetMemoryRequirements,
        (CUDA_ARRAY_MEMORY_REQUIREMENTS * memoryRequirements, CUarray array, CUdevice device),
        memoryRequirements, array, device)
{
    size_t bytes = sim_array_deferred_bytes(array);
    if (!memoryRequirements || device < 0 || device >= sim_options.devices || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    memset(memoryRequirements, 0, sizeof *memoryRequirements);
    memoryRequirements->size = tiles(bytes);
    memoryRequirements->alignment = TILE;
    return CUDA_SUCCESS;
}

SIM_API(cuMipmappedArrayGetMemoryRequirements,
        (CUDA_ARRAY_MEMORY_REQUIREMENTS * memoryRequirements, CUmipmappedArray mipmap,
         CUdevice device),
        memoryRequirements, mipmap, device)
{
    size_t bytes = 0;
    bool valid =
        mipmap && mipmap->magic == MAGIC_MIPMAPS && device >= 0 && device < sim_options.devices;
    for (unsigned i = 0; valid && i < mipmap->count; i++)
        bytes += sim_array_deferred_bytes(mipmap->levels[i]);
    if (!memoryRequirements || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    memset(memoryRequirements, 0, sizeof *memoryRequirements);
    memoryRequirements->size = tiles(bytes);
    memoryRequirements->alignment = TILE;
    return CUDA_SUCCESS;
}

/* What a capture makes of calls that change or ask for settings: limits, pools, contexts, pointers,
 * libraries, textures, the profiler. Whatever the arguments, a call is refused or it is not. */
#include "asking.h"

#include "memory_rows.h"

#include <cudaProfiler.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* cuCtxSetSharedMemConfig */

/* In the strictest mode, and with the caller's mode exchanged to relaxed. */
#define ROWS_CAPTURED(name, call)                                                                  \
    do {                                                                                           \
        CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;                                \
        ROW_CAPTURED(name, call);                                                                  \
        TRY(cuThreadExchangeStreamCaptureMode(&mode_));                                            \
        ROW_CAPTURED(name ", relaxed", call);                                                      \
        TRY(cuThreadExchangeStreamCaptureMode(&mode_));                                            \
    } while (0)

static void ask_limits(void)
{
    size_t bytes = 0;
    ROWS_CAPTURED("stack, 1 MB", cuCtxSetLimit(CU_LIMIT_STACK_SIZE, MB));
    ROWS_CAPTURED("sync depth", cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2));
    ROWS_CAPTURED("launch count", cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048));
    ROWS_CAPTURED("L2 granularity", cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64));
    ROWS_CAPTURED("L2 persisting", cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 3932160));
    ROWS_CAPTURED("shared memory", cuCtxSetLimit(CU_LIMIT_SHMEM_SIZE, 0));
    ROWS_CAPTURED("limit 77", cuCtxSetLimit((CUlimit)77, 1));
    ROWS_CAPTURED("cuCtxGetLimit", cuCtxGetLimit(&bytes, CU_LIMIT_MALLOC_HEAP_SIZE));
}

static CUmemoryPool new_pool(void)
{
    CUmemoryPool pool = NULL;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    TRY(cuMemPoolCreate(&pool, &props));
    return pool;
}

static void ask_pools(void)
{
    CUmemoryPool pool = new_pool(), other = NULL;
    CUmemLocation location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    CUmemAccessDesc none = {location, CU_MEM_ACCESS_FLAGS_PROT_NONE};
    CUmemAccess_flags access;
    CUmemPoolPtrExportData nothing = {{0}};
    cuuint64_t high = 1;
    ROWS_CAPTURED("cuDeviceGetMemPool", cuDeviceGetMemPool(&other, device));
    ROWS_CAPTURED("cuDeviceGetDefaultMemPool", cuDeviceGetDefaultMemPool(&other, device));
    ROWS_CAPTURED("cuMemPoolGetAccess", cuMemPoolGetAccess(&access, pool, &location));
    ROWS_CAPTURED("cuMemPoolSetAccess of its own", cuMemPoolSetAccess(pool, &none, 1));
    ROWS_CAPTURED("cuMemPoolSetAttribute, a high mark of 1",
                  cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &high));
    ROWS_CAPTURED("cuDeviceSetMemPool", cuDeviceSetMemPool(device, other));
    ROWS_CAPTURED("cuDeviceSetMemPool of nothing", cuDeviceSetMemPool(device, NULL));
    ROWS_CAPTURED("cuMemPoolDestroy of the first", cuMemPoolDestroy(other));
    ROWS_CAPTURED("cuMemPoolImportPointer of nothing",
                  cuMemPoolImportPointer(&(CUdeviceptr){0}, pool, &nothing));
    ROWS_CAPTURED("cuDestroyExternalMemory of nothing", cuDestroyExternalMemory(NULL));
}

static void ask_settings(void)
{
    CUdeviceptr managed = 0;
    int yes = 1;
    CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
    TRY(cuMemAllocManaged(&managed, MB, CU_MEM_ATTACH_GLOBAL));
    CUmemLocation location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    ROWS_CAPTURED("cuCtxSetCacheConfig", cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_SHARED));
    ROWS_CAPTURED("cuCtxSetSharedMemConfig",
                  cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
    ROWS_CAPTURED("cuCtxResetPersistingL2Cache", cuCtxResetPersistingL2Cache());
    ROWS_CAPTURED("cuCtxSetFlags", cuCtxSetFlags(0));
    ROWS_CAPTURED("cuProfilerStart", cuProfilerStart());
    ROWS_CAPTURED("cuProfilerStop", cuProfilerStop());
    ROWS_CAPTURED("cuPointerSetAttribute",
                  cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, managed));
    ROWS_CAPTURED("cuMemAdvise", cuMemAdvise(managed, MB, CU_MEM_ADVISE_SET_READ_MOSTLY, location));
    ROWS_CAPTURED("cuStreamAttachMemAsync, another stream",
                  cuStreamAttachMemAsync(other, managed, 0, CU_MEM_ATTACH_SINGLE));
    ROWS_CAPTURED("cuStreamAttachMemAsync",
                  cuStreamAttachMemAsync(stream, managed, 0, CU_MEM_ATTACH_SINGLE));
}

static void ask_code(void)
{
    static const char code[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry k(){ret;}";
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUfunction function = NULL;
    ROW_CAPTURED("cuLibraryLoadData",
                 cuLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0));
    ROWS_CAPTURED("cuLibraryGetKernel", cuLibraryGetKernel(&kernel, library, "k"));
    ROWS_CAPTURED("cuKernelGetFunction", cuKernelGetFunction(&function, kernel));
    ROWS_CAPTURED(
        "cuFuncSetAttribute",
        cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
    ROW_CAPTURED("cuLibraryUnload", cuLibraryUnload(library));
    ROWS_CAPTURED("cuLibraryUnload of nothing", cuLibraryUnload(NULL));
}

static void ask_textures(void)
{
    CUarray array = NULL;
    CUtexObject texture = 0;
    CUDA_ARRAY_DESCRIPTOR image = {64, 64, CU_AD_FORMAT_FLOAT, 1};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC description = {.flags = 0};
    TRY(cuArrayCreate(&array, &image));
    resource.res.array.hArray = array;
    ROWS_CAPTURED("cuTexObjectCreate", cuTexObjectCreate(&texture, &resource, &description, NULL));
    ROW_CAPTURED("cuTexObjectDestroy", cuTexObjectDestroy(texture));
}

static const struct question questions[] = {
    {.name = "limits", .ask = ask_limits},     {.name = "pools", .ask = ask_pools},
    {.name = "settings", .ask = ask_settings}, {.name = "code", .ask = ask_code},
    {.name = "textures", .ask = ask_textures},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "conformance_settings",
        .questions = questions,
        .count = COUNT(questions),
        .set_up = set_up,
        .question_s = 10,
        .untimed = true,
    };

    return ask_all(&inquiry, argc, argv);
}

// expect-exit: 0
// link: cuda
// options: device=1
// strict-says: whose_work_there_is_not_seen:_
//
// A pool's memory is exported to other processes and imported again, as far as the driver does
// that, by name and through cuGetProcAddress, with device memory watched. What was imported is used
// in one stream behind another, and freed.
#include <cuda.h>
#include <cudaTypedefs.h>

#include "survival.h"

enum { BYTES = 64 << 10 };

struct functions {
    PFN_cuMemPoolExportToShareableHandle_v11020 export_pool;
    PFN_cuMemPoolImportFromShareableHandle_v11020 import_pool;
    PFN_cuMemPoolExportPointer_v11020 export_pointer;
    PFN_cuMemPoolImportPointer_v11020 import_pointer;
};

static CUmemoryPool new_pool(void)
{
    const CUmemPoolProps properties = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
    };
    CUmemoryPool pool = NULL;
    CHECK(cuMemPoolCreate(&pool, &properties));
    return pool;
}

static void use_imported(CUdeviceptr imported, CUstream first, CUstream second)
{
    CUevent written = NULL;
    unsigned char found = 0;
    CHECK(cuEventCreate(&written, CU_EVENT_DISABLE_TIMING));
    SHOW(cuMemsetD8Async(imported, 3, BYTES, first));
    SHOW(cuEventRecord(written, first));
    SHOW(cuStreamWaitEvent(second, written, 0));
    SHOW(cuMemcpyDtoHAsync(&found, imported + BYTES - 1, 1, second));
    SHOW(cuMemFreeAsync(imported, second));
    SHOW(cuStreamSynchronize(second));
    SHOW(found);
}

static void exchange(const struct functions *call, CUstream first, CUstream second)
{
    CUmemoryPool pool = new_pool(), imported_pool = NULL;
    CUmemPoolPtrExportData data = {{0}};
    CUdeviceptr memory = 0, imported = 0;
    int handle = -1;
    CHECK(cuMemAllocFromPoolAsync(&memory, BYTES, pool, first));
    CHECK(cuStreamSynchronize(first));

    SHOW(call->export_pool(&handle, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    SHOW(call->export_pointer(&data, memory));
    SHOW(call->export_pointer(&data, 0));
    SHOW(call->import_pool(&imported_pool, (void *)(intptr_t)handle,
                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    SHOW(call->import_pointer(&imported, imported_pool ? imported_pool : pool, &data));
    if (imported)
        use_imported(imported, first, second);

    SHOW(cuMemsetD8Async(memory, 5, BYTES, first));
    SHOW(cuMemFreeAsync(memory, first));
    if (imported_pool)
        SHOW(cuMemPoolDestroy(imported_pool));
    SHOW(cuMemPoolDestroy(pool));
    if (handle >= 0)
        SHOW(close(handle));
    SHOW(cuCtxSynchronize());
}

static void *look_up(const char *name)
{
    void *found = NULL;
    SHOW(cuGetProcAddress(name, &found, 11020, 0, NULL));
    return found;
}

int main(void)
{
    CUdevice gpu = 0;
    CUcontext context = NULL;
    CUstream first = NULL, second = NULL;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&gpu, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, gpu));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));

    exchange(&(struct functions){cuMemPoolExportToShareableHandle,
                                 cuMemPoolImportFromShareableHandle, cuMemPoolExportPointer,
                                 cuMemPoolImportPointer},
             first, second);
    struct functions found;
    *(void **)&found.export_pool = look_up("cuMemPoolExportToShareableHandle");
    *(void **)&found.import_pool = look_up("cuMemPoolImportFromShareableHandle");
    *(void **)&found.export_pointer = look_up("cuMemPoolExportPointer");
    *(void **)&found.import_pointer = look_up("cuMemPoolImportPointer");
    exchange(&found, first, second);
    return 0;
}

// expect: SC302 action=rerouted certainty=observed event=cu[MD]*
//
// While a stream captures, a pool is shared and imported again, made the current one, asked for its
// use and given access, and external memory is ended. No capture permits any of these calls.
#include "capture.h"

#include <stdint.h>

struct pools {
    CUmemoryPool own, imported, first;
    CUexternalMemory external;
    int fd;
};

static const CUmemLocation on_device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};

static void use(struct pools *p)
{
    CUmemAccessDesc both = {on_device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemLocation location = on_device;
    CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    CUmemPoolPtrExportData shared;
    CUdeviceptr address = 0;
    cuuint64_t used_bytes = 0;
    TRY(cuMemPoolSetAccess(p->own, &both, 1));
    TRY(cuMemPoolGetAccess(&access, p->own, &location));
    TRY(cuMemPoolGetAttribute(p->own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used_bytes));
    TRY(cuDeviceSetMemPool(0, p->own));
    TRY(cuDeviceSetMemPool(0, p->first));
    TRY(cuMemPoolImportFromShareableHandle(&p->imported, (void *)(intptr_t)p->fd,
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    TRY(cuDestroyExternalMemory(p->external));
    /* What belongs to another process alone: the driver says so, and the capture goes on. */
    memset(&shared, 0, sizeof shared);
    (void)cuMemPoolImportPointer(&address, p->imported, &shared);
}

static CUexternalMemory external_memory(void)
{
    CUmemAllocationProp memory = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                  .location = on_device};
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC description = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .size = 2 << 20};
    CUmemGenericAllocationHandle handle = 0;
    CUexternalMemory external = NULL;
    CHECK(cuMemCreate(&handle, 2 << 20, &memory, 0));
    CHECK(cuMemExportToShareableHandle(&description.handle.fd, handle,
                                       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CHECK(cuImportExternalMemory(&external, &description));
    return external;
}

static struct pools new_pools(void)
{
    struct pools made = {.external = external_memory(), .fd = -1};
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                 .location = on_device};
    CHECK(cuMemPoolCreate(&made.own, &properties));
    CHECK(cuDeviceGetDefaultMemPool(&made.first, 0));
    CHECK(cuMemPoolExportToShareableHandle(&made.fd, made.own,
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return made;
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    struct pools pools = new_pools();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);

    if (fixed)
        use(&pools);
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (!fixed)
        use(&pools);
    TRY(cuMemcpyDtoDAsync(to, from, SMALL, stream));

    driver_replay(driver_end_capture(stream, 1), stream);
    return finish(!broken && driver_device_holds(to, SMALL, WANTED));
}

// expect-exit: 0
// strict-says: whose_work_there_is_not_seen:_2
// link: cuda
//
// Memory of every kind is given, some of it by sixteen threads, and taken back. With an argument
// the program ends when all is given (1), when the driver has refused to take some of it back (2),
// when a context was destroyed with memory in it (3), or as with 1 but a moment later (4):
// tests/unit/test_memory.py knows the sizes.
#include <cuda.h>
#include <pthread.h>

#include "survival.h"

enum { KB = 1 << 10, MB = 1 << 20, THREADS = 16, OF_A_THREAD = 50 };

static CUstream stream;
static CUdeviceptr device, pitched, managed, pooled, of_own_pool, small[THREADS][OF_A_THREAD];
static CUdeviceptr addresses;
static CUmemoryPool pool;
static CUarray array, cube;
static CUmipmappedArray mipmaps;
static CUmemGenericAllocationHandle mapped, unmapped, on_host, imported;
static CUgraphExec exec;
static void *pinned, *mapped_host, *registered;

static void *give_small(void *argument)
{
    CUdeviceptr *blocks = (CUdeviceptr *)argument;
    CUcontext context = NULL;
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    for (unsigned i = 0; i < OF_A_THREAD; i++)
        CHECK(cuMemAlloc(&blocks[i], 1000));
    for (unsigned i = 0; i < OF_A_THREAD; i += 2)
        CHECK(cuMemFree(blocks[i]));
    for (unsigned i = 0; i < OF_A_THREAD; i += 2)
        CHECK(cuMemAlloc(&blocks[i], 1000));
    CHECK(cuDevicePrimaryCtxRelease(0));
    return NULL;
}

static void give_small_by_threads(void)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, give_small, small[i]));
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL));
}

static void give_pooled(void)
{
    const CUmemPoolProps properties = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
    };
    CHECK(cuMemPoolCreate(&pool, &properties));
    CHECK(cuMemAllocAsync(&pooled, 5 * MB, stream));
    CHECK(cuMemAllocFromPoolAsync(&of_own_pool, 7 * MB, pool, stream));
}

static void give_arrays(void)
{
    const CUDA_ARRAY_DESCRIPTOR plane = {
        .Width = 64, .Height = 32, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 2};
    const CUDA_ARRAY3D_DESCRIPTOR box = {
        .Width = 8, .Height = 8, .Depth = 8, .Format = CU_AD_FORMAT_HALF, .NumChannels = 4};
    const CUDA_ARRAY3D_DESCRIPTOR base = {
        .Width = 16, .Height = 16, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    CHECK(cuArrayCreate(&array, &plane));
    CHECK(cuArray3DCreate(&cube, &box));
    CHECK(cuMipmappedArrayCreate(&mipmaps, &base, 3));
}

/* The host's cannot be shared. */
static CUmemGenericAllocationHandle create(CUmemLocationType type, size_t bytes)
{
    const CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = type == CU_MEM_LOCATION_TYPE_HOST
                                    ? CU_MEM_HANDLE_TYPE_NONE
                                    : CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = type, .id = 0},
    };
    CUmemGenericAllocationHandle handle = 0;
    CHECK(cuMemCreate(&handle, bytes, &properties, 0));
    return handle;
}

/* The first is released at once and lives by its mapping. What is imported is the second. */
static void give_virtual(void)
{
    int descriptor = -1;
    mapped = create(CU_MEM_LOCATION_TYPE_DEVICE, 4 * MB);
    unmapped = create(CU_MEM_LOCATION_TYPE_DEVICE, 6 * MB);
    on_host = create(CU_MEM_LOCATION_TYPE_HOST, 2 * MB);
    CHECK(cuMemAddressReserve(&addresses, 16 * MB, 0, 0, 0));
    CHECK(cuMemMap(addresses, 4 * MB, 0, mapped, 0));
    CHECK(cuMemRelease(mapped));
    CHECK(cuMemExportToShareableHandle(&descriptor, unmapped,
                                       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CHECK(cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)descriptor,
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    CHECK(close(descriptor));
    CHECK(cuMemMap(addresses + 4 * MB, 6 * MB, 0, imported, 0));
}

static void give_exec(void)
{
    CUgraph graph = NULL;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphDestroy(graph));
}

/* What is captured is no memory yet. */
static void capture_an_allocation(void)
{
    CUdeviceptr captured = 0;
    CUgraph graph = NULL;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemAllocAsync(&captured, 11 * MB, stream));
    CHECK(cuMemFreeAsync(captured, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphDestroy(graph));
}

static void give_all(void)
{
    size_t pitch = 0;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&device, 3 * MB + 1));
    CHECK(cuMemAllocPitch(&pitched, &pitch, 1000, 10, 4));
    CHECK(cuMemAllocManaged(&managed, 9 * MB, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuMemAllocHost(&pinned, 1 * MB));
    CHECK(cuMemHostAlloc(&mapped_host, 3 * KB, CU_MEMHOSTALLOC_DEVICEMAP));
    CHECK(posix_memalign(&registered, 4 * KB, 64 * KB));
    CHECK(cuMemHostRegister(registered, 64 * KB, 0));
    give_small_by_threads();
    give_pooled();
    give_arrays();
    give_virtual();
    give_exec();
    capture_an_allocation();
}

/* Nothing of this is taken back, or given. */
static void be_refused(void)
{
    CUdeviceptr none = 0;
    SHOW(cuMemFree(device + 1));
    SHOW(cuMemUnmap(addresses, 2 * MB));
    SHOW(cuMemAddressFree(addresses, 16 * MB));
    SHOW(cuMemHostUnregister((char *)registered + 4 * KB));
    SHOW(cuMemAlloc(&none, (size_t)1 << 50));
    SHOW(cuMemAllocAsync(&none, (size_t)1 << 50, stream));
}

static void take_virtual(void)
{
    CHECK(cuMemUnmap(addresses, 10 * MB));
    CHECK(cuMemRelease(imported));
    CHECK(cuMemRelease(unmapped));
    CHECK(cuMemRelease(on_host));
    CHECK(cuMemAddressFree(addresses, 16 * MB));
}

static void take_all(void)
{
    CHECK(cuMemFree(device));
    CHECK(cuMemFree(pitched));
    CHECK(cuMemFree(managed));
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuMemFreeHost(mapped_host));
    CHECK(cuMemHostUnregister(registered));
    free(registered);
    for (unsigned i = 0; i < THREADS * OF_A_THREAD; i++)
        CHECK(cuMemFree(small[0][i]));
    CHECK(cuMemFreeAsync(pooled, stream));
    CHECK(cuMemFree(of_own_pool));
    CHECK(cuMemPoolDestroy(pool));
    CHECK(cuArrayDestroy(array));
    CHECK(cuArrayDestroy(cube));
    CHECK(cuMipmappedArrayDestroy(mipmaps));
    take_virtual();
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuStreamDestroy(stream));
}

/* The context takes its memory along, but what is pooled, and physical memory. */
static void end_a_context(void)
{
    CUcontext context = NULL;
    CHECK(cuCtxCreate(&context, NULL, 0, 0));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&device, 3 * MB));
    CHECK(cuMemAllocHost(&pinned, 1 * MB));
    CHECK(cuMemAllocAsync(&pooled, 5 * MB, stream));
    CHECK(cuStreamSynchronize(stream));
    create(CU_MEM_LOCATION_TYPE_DEVICE, 4 * MB);
    CHECK(cuCtxDestroy(context));
}

/* Lines come meanwhile, where they are asked for. */
static void wait_for_lines(void)
{
    usleep(300 * 1000);
}

int main(int argc, char **argv)
{
    int last = argc > 1 ? atoi(argv[1]) : 0;
    CUcontext context = NULL;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    give_all();
    if (last == 4)
        wait_for_lines();
    if (last == 1 || last == 4)
        return 0;
    be_refused();
    if (last == 2)
        return 0;
    take_all();
    if (last == 3)
        end_a_context();
    return 0;
}

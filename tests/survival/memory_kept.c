// expect-exit: 0
// link: cuda
//
// Memory that the driver keeps although nobody uses it: physical memory that is unmapped and never
// released (vmm), a pool with a threshold (pool), the default pool after another one (default),
// execs that are replaced and never destroyed (graphs). A second argument has it all given back.
// tests/unit/test_memory.py looks at the report.
#include <cuda.h>

#include "../../include/safecopy.h"
#include "graph_memory.h"
#include "survival.h"

enum { MB = 1 << 20, CHUNKS = 64, CHUNK = 64 * MB, EXECS = 1000, OF_A_GRAPH = 64 << 10 };

static CUstream stream;
static bool gives_back;

static void keep_physical(void)
{
    const CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
    };
    CUmemGenericAllocationHandle chunks[CHUNKS];
    CUdeviceptr addresses = 0;
    CHECK(cuMemAddressReserve(&addresses, (size_t)CHUNKS * CHUNK, 0, 0, 0));
    for (unsigned i = 0; i < CHUNKS; i++) {
        CHECK(cuMemCreate(&chunks[i], CHUNK, &properties, 0));
        CHECK(cuMemMap(addresses + (size_t)i * CHUNK, CHUNK, 0, chunks[i], 0));
    }
    CHECK(cuMemUnmap(addresses, (size_t)CHUNKS * CHUNK));
    for (unsigned i = 0; gives_back && i < CHUNKS; i++)
        CHECK(cuMemRelease(chunks[i]));
    if (gives_back)
        CHECK(cuMemAddressFree(addresses, (size_t)CHUNKS * CHUNK));
}

static void keep_in_a_pool(void)
{
    CUmemoryPool pool = NULL;
    CUdeviceptr block = 0;
    cuuint64_t all = UINT64_MAX;
    const CUmemPool_attribute high = CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH;
    cuuint64_t none = 0;
    CHECK(cuDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    CHECK(cuMemAllocAsync(&block, 1024 * MB, stream));
    CHECK(cuMemFreeAsync(block, stream));
    CHECK(cuStreamSynchronize(stream));
    safecopy_release(); /* it is the program's pool */
    if (gives_back)
        CHECK(cuMemPoolTrimTo(pool, 0) || cuMemPoolSetAttribute(pool, high, &none));
}

/* The device's default pool serves it again when its own one is gone. */
static void keep_in_the_default_pool(void)
{
    const CUmemPoolProps properties = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
    };
    CUmemoryPool pool = NULL;
    CUdeviceptr block = 0;
    CHECK(cuMemPoolCreate(&pool, &properties));
    CHECK(cuDeviceSetMemPool(0, pool));
    CHECK(cuMemAllocAsync(&block, 1 * MB, stream));
    CHECK(cuMemFreeAsync(block, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemPoolDestroy(pool));
    CHECK(cuMemAllocAsync(&block, 5 * MB, stream));
    if (gives_back)
        CHECK(cuMemFreeAsync(block, stream));
}

static void keep_execs(void)
{
    static CUgraphExec execs[EXECS];
    for (unsigned i = 0; i < EXECS; i++) {
        execs[i] = new_exec_of(OF_A_GRAPH);
        CHECK(cuGraphLaunch(execs[i], stream));
    }
    CHECK(cuStreamSynchronize(stream));
    for (unsigned i = 0; gives_back && i < EXECS; i++)
        CHECK(cuGraphExecDestroy(execs[i]));
    if (gives_back)
        CHECK(cuDeviceGraphMemTrim(0));
}

static bool is_asked(int argc, char **argv, const char *what)
{
    return argc < 2 || strcmp(argv[1], what) == 0;
}

int main(int argc, char **argv)
{
    CUcontext context = NULL;
    gives_back = argc != 2;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (is_asked(argc, argv, "vmm"))
        keep_physical();
    if (is_asked(argc, argv, "pool"))
        keep_in_a_pool();
    if (is_asked(argc, argv, "default"))
        keep_in_the_default_pool();
    if (is_asked(argc, argv, "graphs"))
        keep_execs();
    return 0;
}

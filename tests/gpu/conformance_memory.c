/* What the driver makes of memory that is shared, pooled, of graphs, of arrays and of limits: its
 * errors, what holds the memory, and what its calls wait for. Virtual memory is asked by
 * conformance_virtual.c. */
#include "asking.h"

#include "memory_rows.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- pools ---- */

static CUmemoryPool new_pool(CUmemAllocationHandleType shared_as)
{
    CUmemoryPool pool = NULL;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .handleTypes = shared_as,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    TRY(cuMemPoolCreate(&pool, &props));
    return pool;
}

static long pool_mb(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    cuuint64_t bytes = 0;
    TRY(cuMemPoolGetAttribute(pool, attribute, &bytes));
    return (long)((bytes + MB - 1) / MB);
}

static void pool_row(const char *when, CUmemoryPool pool)
{
    row("cuMemPoolGetAttribute", when, "used %ld, high %ld, reserved %ld, high %ld MB",
        pool_mb(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT),
        pool_mb(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH),
        pool_mb(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT),
        pool_mb(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH));
}

static CUdeviceptr pooled(CUmemoryPool pool, size_t bytes)
{
    CUdeviceptr at = 0;
    TRY(cuMemAllocFromPoolAsync(&at, bytes, pool, stream));
    return at;
}

static CUresult set_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, cuuint64_t value)
{
    return cuMemPoolSetAttribute(pool, attribute, &value);
}

static void ask_pool(void)
{
    CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_NONE);
    from_here();
    CUdeviceptr small = pooled(pool, 1);
    pool_row("one byte", pool);
    CUdeviceptr large = pooled(pool, 64 * MB);
    pool_row("64 MB more", pool);
    row_taken("one byte and 64 MB");
    TRY(cuMemFreeAsync(large, stream));
    pool_row("freed, not synchronised", pool);
    settle();
    pool_row("freed, synchronised", pool);
    row_taken("freed, synchronised");
    TRY(set_attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, UINT64_MAX));
    TRY(cuMemFreeAsync(pooled(pool, 64 * MB), stream));
    settle();
    pool_row("64 MB freed, with a threshold", pool);
    ROW("cuMemPoolTrimTo", "32 MB", cuMemPoolTrimTo(pool, 32 * MB));
    pool_row("trimmed to 32 MB", pool);
    ROW("cuMemPoolTrimTo", "0", cuMemPoolTrimTo(pool, 0));
    pool_row("trimmed to 0", pool);
    ROW("cuMemPoolSetAttribute", "used high, 0",
        set_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, 0));
    ROW("cuMemPoolSetAttribute", "used high, 1",
        set_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, 1));
    ROW("cuMemPoolSetAttribute", "used", set_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, 0));
    ROW("cuMemPoolSetAttribute", "reserved high, 0",
        set_attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, 0));
    pool_row("highs set to 0", pool);
    ROW("cuMemFree", "of a pool", cuMemFree(small));
    pool_row("all freed", pool);
}

static void ask_pool_ends(void)
{
    CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_NONE), first = NULL, now = NULL;
    TRY(cuDeviceGetDefaultMemPool(&first, device));
    ROW("cuMemPoolDestroy", "the device's own", cuMemPoolDestroy(first));
    from_here();
    CUdeviceptr at = pooled(pool, 64 * MB);
    settle();
    TRY(cuDeviceSetMemPool(device, pool));
    ROW("cuMemPoolDestroy", "the current one, with memory", cuMemPoolDestroy(pool));
    TRY(cuDeviceGetMemPool(&now, device));
    row("cuDeviceGetMemPool", "it is destroyed", "%s",
        now == first ? "the device's own" : "another");
    row_taken("destroyed, with memory");
    ROW("cuMemFreeAsync", "its pool is destroyed", cuMemFreeAsync(at, stream));
    settle();
    row_taken("freed");
}

static void ask_pool_share(void)
{
    CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), imported = NULL;
    CUmemPoolPtrExportData data;
    int fd = -1;
    CUdeviceptr at = pooled(pool, MB), same = 0, other = 0;
    settle();
    ROW("cuMemPoolExportToShareableHandle", "not asked for",
        cuMemPoolExportToShareableHandle(&fd, new_pool(CU_MEM_HANDLE_TYPE_NONE),
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ROW("cuMemPoolExportToShareableHandle", "asked for",
        cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ROW("cuMemPoolImportFromShareableHandle", "in the same process",
        cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)fd,
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ROW("cuMemPoolExportPointer", "of the pool", cuMemPoolExportPointer(&data, at));
    if (!imported)
        return;
    ROW("cuMemPoolImportPointer", "in the same process",
        cuMemPoolImportPointer(&same, imported, &data));
    row("cuMemPoolImportPointer", "the address is", same == at ? "the same" : "another");
    cuuint64_t bytes = 0;
    ROW("cuMemPoolGetAttribute", "imported",
        cuMemPoolGetAttribute(imported, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
    ROW("cuMemAllocFromPoolAsync", "an imported pool",
        cuMemAllocFromPoolAsync(&other, MB, imported, stream));
    ROW("cuMemPoolTrimTo", "an imported pool", cuMemPoolTrimTo(imported, 0));
    ROW("cuMemFreeAsync", "imported", cuMemFreeAsync(same, stream));
    ROW("cuMemPoolDestroy", "imported", cuMemPoolDestroy(imported));
}

static void ask_pool_refusals(void)
{
    CUmemoryPool pool = NULL;
    CUmemPoolPtrExportData data;
    CUdeviceptr plain = 0;
    CUmemAccessDesc none = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
    CUmemLocation here = none.location;
    CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 99}};
    ROW("cuMemPoolCreate", "device 99", cuMemPoolCreate(&pool, &props));
    props.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0};
    ROW("cuMemPoolCreate", "host", cuMemPoolCreate(&pool, &props));
    props.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    ROW("cuMemPoolCreate", "NUMA node 0", cuMemPoolCreate(&pool, &props));
    props.location = here;
    props.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
    ROW("cuMemPoolCreate", "no type", cuMemPoolCreate(&pool, &props));
    TRY(cuMemAlloc(&plain, MB));
    ROW("cuMemPoolExportPointer", "memory of cuMemAlloc", cuMemPoolExportPointer(&data, plain));
    pool = new_pool(CU_MEM_HANDLE_TYPE_NONE);
    ROW("cuMemPoolSetAccess", "none, its own device", cuMemPoolSetAccess(pool, &none, 1));
    CUresult rc = cuMemPoolGetAccess(&flags, pool, &here);
    row("cuMemPoolGetAccess", "its own device", "%d, %d", (int)rc, (int)flags);
    ROW("cuMemAllocFromPoolAsync", "2^60 bytes",
        cuMemAllocFromPoolAsync(&plain, (size_t)1 << 60, pool, stream));
    ROW("cuMemAlloc", "2^60 bytes", cuMemAlloc(&plain, (size_t)1 << 60));
}

/* ---- interprocess handles ---- */

struct exported {
    CUipcMemHandle block, middle;
    CUipcEventHandle event;
};

static void importing(int from, int to)
{
    struct exported got;
    CUdeviceptr at = 0, again = 0, middle = 0, base = 0;
    size_t bytes = 0;
    CUevent event = NULL;
    char turn = 0;
    if (read(from, &got, sizeof got) != sizeof got || set_up() != CUDA_SUCCESS)
        _exit(1);
    from_here();
    ROW("cuIpcOpenMemHandle", "no flags", cuIpcOpenMemHandle(&at, got.block, 0));
    ROW("cuIpcOpenMemHandle", "flags 1",
        cuIpcOpenMemHandle(&at, got.block, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    row_taken("64 MB opened");
    row("memory", "opened", "%u", byte_at(at));
    ROW("cuIpcOpenMemHandle", "once more",
        cuIpcOpenMemHandle(&again, got.block, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    row("cuIpcOpenMemHandle", "once more, the address is", again == at ? "the same" : "another");
    ROW("cuIpcOpenMemHandle", "made of a middle",
        cuIpcOpenMemHandle(&middle, got.middle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    row("cuIpcOpenMemHandle", "made of a middle, the address is",
        middle == at ? "the start" : "another");
    CUresult rc = cuMemGetAddressRange(&base, &bytes, at + 1);
    row("cuMemGetAddressRange", "opened", "%d, %s, %zu MB", (int)rc,
        base == at ? "the start" : "another", bytes / MB);
    ROW("cuMemFree", "opened", cuMemFree(at));
    ROW("cuIpcCloseMemHandle", "a middle", cuIpcCloseMemHandle(at + 4096));
    read_late(at);
    ROW_WAITS("cuIpcCloseMemHandle", "in flight, the first of three", cuIpcCloseMemHandle(at));
    settle();
    ROW("cuIpcCloseMemHandle", "the second of three", cuIpcCloseMemHandle(at));
    row("memory", "opened once", "%u", byte_at(at));
    ROW("cuIpcOpenEventHandle", "an event", cuIpcOpenEventHandle(&event, got.event));
    ROW("cuEventQuery", "of another process", cuEventQuery(event));
    ROW("cuEventDestroy", "of another process", cuEventDestroy(event));
    if (write(to, "o", 1) != 1 || read(from, &turn, 1) != 1)
        _exit(1);
    row_taken("freed by its owner");
    row("memory", "freed by its owner", "%u", byte_at(at));
    ROW_WAITS("cuIpcCloseMemHandle", "the last", cuIpcCloseMemHandle(at));
    row_taken("freed by its owner, and closed");
    ROW("cuIpcCloseMemHandle", "closed", cuIpcCloseMemHandle(at));
    ROW("cuIpcOpenMemHandle", "freed by its owner",
        cuIpcOpenMemHandle(&at, got.block, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    if (write(to, "c", 1) != 1)
        _exit(1);
    _exit(0);
}

static void handle_row(const char *what, CUdeviceptr at)
{
    CUipcMemHandle handle;
    ROW("cuIpcGetMemHandle", what, cuIpcGetMemHandle(&handle, at));
}

static void handle_rows(void)
{
    CUdeviceptr managed = 0;
    void *pinned = NULL;
    CUipcEventHandle handle;
    TRY(cuMemAllocManaged(&managed, MB, CU_MEM_ATTACH_GLOBAL));
    TRY(cuMemAllocHost(&pinned, MB));
    handle_row("managed", managed);
    handle_row("pinned", uva(pinned));
    handle_row("of a pool", pooled(new_pool(CU_MEM_HANDLE_TYPE_NONE), MB));
    handle_row("unknown", 4096);
    ROW("cuIpcGetEventHandle", "a plain event", cuIpcGetEventHandle(&handle, new_event()));
}

/* The importer is made before the driver is used. */
static void ask_ipc(void)
{
    int down[2], up[2];
    struct exported made;
    CUevent event = NULL;
    CUdeviceptr at = 0;
    char turn = 0;
    memset(&made, 0, sizeof made);
    if (pipe(down) != 0 || pipe(up) != 0)
        return;
    pid_t child = fork();
    if (child == 0)
        importing(down[0], up[1]);
    set_up();
    handle_rows();
    from_here();
    TRY(cuMemAlloc(&at, 64 * MB));
    TRY(cuMemsetD8(at, 9, 64 * MB));
    ROW("cuIpcGetMemHandle", "of cuMemAlloc", cuIpcGetMemHandle(&made.block, at));
    ROW("cuIpcGetMemHandle", "of a middle", cuIpcGetMemHandle(&made.middle, at + 4096));
    row("cuIpcGetMemHandle", "of a middle, the handle is",
        memcmp(&made.block, &made.middle, sizeof made.block) == 0 ? "the same" : "another");
    TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
    ROW("cuIpcGetEventHandle", "for processes", cuIpcGetEventHandle(&made.event, event));
    TRY(cuEventRecord(event, stream));
    settle();
    CUdeviceptr here = 0;
    ROW("cuIpcOpenMemHandle", "in the same process",
        cuIpcOpenMemHandle(&here, made.block, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    if (write(down[1], &made, sizeof made) != sizeof made || read(up[0], &turn, 1) != 1)
        return;
    ROW("cuMemFree", "opened by another", cuMemFree(at));
    if (write(down[1], "f", 1) != 1 || read(up[0], &turn, 1) != 1)
        return;
    waitpid(child, NULL, 0);
}

/* ---- external memory ---- */

static CUresult import(CUexternalMemory *memory, int fd, size_t bytes, unsigned flags)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                             .handle.fd = fd,
                                             .size = bytes,
                                             .flags = flags};
    return cuImportExternalMemory(memory, &desc);
}

static void buffer_row(const char *what, CUexternalMemory memory, size_t offset, size_t bytes)
{
    CUdeviceptr at = 0;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {.offset = offset, .size = bytes};
    ROW("cuExternalMemoryGetMappedBuffer", what,
        cuExternalMemoryGetMappedBuffer(&at, memory, &desc));
}

static int exported_fd(size_t bytes)
{
    CUmemGenericAllocationHandle handle = 0;
    CUmemAllocationProp prop = on_device(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    int fd = -1;
    TRY(cuMemCreate(&handle, bytes, &prop, 0));
    TRY(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    TRY(cuMemRelease(handle));
    return fd;
}

static void ask_external(void)
{
    CUexternalMemory memory = NULL;
    CUdeviceptr at = 0;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC all = {.offset = 0, .size = 64 * MB};
    int file = memfd_create("memory", 0);
    TRY((CUresult)ftruncate(file, 64 * MB));
    ROW("cuImportExternalMemory", "descriptor -1", import(&memory, -1, 64 * MB, 0));
    ROW("cuImportExternalMemory", "a file of memory", import(&memory, file, 64 * MB, 0));
    ROW("cuImportExternalMemory", "no bytes", import(&memory, exported_fd(64 * MB), 0, 0));
    ROW("cuImportExternalMemory", "flags 8", import(&memory, exported_fd(64 * MB), 64 * MB, 8));
    from_here();
    CUresult rc = import(&memory, exported_fd(64 * MB), 64 * MB, CUDA_EXTERNAL_MEMORY_DEDICATED);
    ROW("cuImportExternalMemory", "of cuMemCreate", rc);
    if (rc != CUDA_SUCCESS)
        return;
    row_taken("imported");
    buffer_row("beyond the end", memory, 32 * MB, 64 * MB);
    buffer_row("no bytes", memory, 0, 0);
    ROW("cuExternalMemoryGetMappedBuffer", "all",
        cuExternalMemoryGetMappedBuffer(&at, memory, &all));
    read_late(at);
    ROW_WAITS("cuDestroyExternalMemory", "mapped, in flight", cuDestroyExternalMemory(memory));
    settle();
    row_taken("destroyed, mapped");
    ROW("cuMemFree", "the buffer", cuMemFree(at));
    row_taken("the buffer freed");
}

/* ---- graphs' memory ---- */

static long graph_mb(CUgraphMem_attribute attribute)
{
    cuuint64_t bytes = 0;
    TRY(cuDeviceGetGraphMemAttribute(device, attribute, &bytes));
    return (long)(bytes / MB);
}

static void graph_row(const char *when)
{
    row("cuDeviceGetGraphMemAttribute", when, "used %ld, high %ld, reserved %ld, high %ld MB",
        graph_mb(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), graph_mb(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH),
        graph_mb(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT),
        graph_mb(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH));
}

static CUresult set_graph_attribute(CUgraphMem_attribute attribute, cuuint64_t value)
{
    return cuDeviceSetGraphMemAttribute(device, attribute, &value);
}

static CUdeviceptr add_allocation(CUgraph graph, size_t bytes, CUresult *result)
{
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}},
        .bytesize = bytes};
    *result = cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params);
    return params.dptr;
}

static void ask_graph(void)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL, more = NULL;
    CUresult rc = CUDA_SUCCESS;
    TRY(cuGraphCreate(&graph, 0));
    from_here();
    graph_row("before");
    CUdeviceptr at = add_allocation(graph, 64 * MB, &rc);
    ROW("cuGraphAddMemAllocNode", "64 MB", rc);
    graph_row("a node");
    TRY(cuGraphInstantiate(&exec, graph, 0));
    graph_row("instantiated");
    ROW("cuGraphInstantiate", "a second time", cuGraphInstantiate(&more, graph, 0));
    TRY(cuGraphUpload(exec, stream));
    settle();
    graph_row("uploaded");
    row_taken("uploaded");
    TRY(cuGraphLaunch(exec, stream));
    settle();
    graph_row("launched");
    row_taken("launched");
    ROW("cuGraphLaunch", "not freed in between", cuGraphLaunch(exec, stream));
    ROW("cuMemFreeAsync", "of a node", cuMemFreeAsync(at, stream));
    settle();
    graph_row("freed");
    row_taken("freed");
    TRY(cuGraphLaunch(exec, stream));
    settle();
    ROW("cuGraphExecDestroy", "its memory not freed", cuGraphExecDestroy(exec));
    graph_row("the exec destroyed, its memory not freed");
    ROW("cuMemFree", "of a node", cuMemFree(at));
    graph_row("freed behind that");
    read_late(0);
    ROW_WAITS("cuDeviceGraphMemTrim", "a stream busy", cuDeviceGraphMemTrim(device));
    settle();
    graph_row("trimmed");
    row_taken("trimmed");
    ROW("cuDeviceSetGraphMemAttribute", "used high, 0",
        set_graph_attribute(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, 0));
    ROW("cuDeviceSetGraphMemAttribute", "reserved high, 5",
        set_graph_attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, 5));
    ROW("cuDeviceSetGraphMemAttribute", "used",
        set_graph_attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, 0));
    graph_row("a high set to 0");
    TRY(cuGraphDestroy(graph));
    TRY(cuGraphCreate(&graph, 0));
    add_allocation(graph, 0, &rc);
    ROW("cuGraphAddMemAllocNode", "no bytes", rc);
}

/* Two execs of graphs that free what they allocate. */
static void ask_graphs(void)
{
    CUgraphExec exec[2] = {NULL, NULL};
    CUresult rc = CUDA_SUCCESS;
    for (int i = 0; i < 2; i++) {
        CUgraph graph = NULL;
        CUgraphNode first = NULL, last = NULL;
        size_t one = 1;
        TRY(cuGraphCreate(&graph, 0));
        CUdeviceptr at = add_allocation(graph, 64 * MB, &rc);
        TRY(cuGraphGetNodes(graph, &first, &one));
        TRY(cuGraphAddMemFreeNode(&last, graph, &first, 1, at));
        TRY(cuGraphInstantiate(&exec[i], graph, 0));
        TRY(cuGraphLaunch(exec[i], stream));
        settle();
        graph_row(i ? "another exec that frees" : "an exec that frees");
    }
    TRY(cuGraphExecDestroy(exec[0]));
    TRY(cuGraphExecDestroy(exec[1]));
    graph_row("both destroyed");
    TRY(cuDeviceGraphMemTrim(device));
    graph_row("both destroyed, trimmed");
}

/* ---- arrays ---- */

static CUDA_ARRAY3D_DESCRIPTOR image(size_t side, unsigned flags)
{
    return (CUDA_ARRAY3D_DESCRIPTOR){.Width = side,
                                     .Height = side,
                                     .Format = CU_AD_FORMAT_FLOAT,
                                     .NumChannels = 4,
                                     .Flags = flags};
}

static void levels_row(unsigned levels, size_t side)
{
    CUmipmappedArray array = NULL;
    CUarray last = NULL, beyond = NULL;
    CUDA_ARRAY3D_DESCRIPTOR all = image(side, 0), d;
    char variant[32];
    snprintf(variant, sizeof variant, "%u levels of %zu", levels, side);
    CUresult rc = cuMipmappedArrayCreate(&array, &all, levels);
    ROW("cuMipmappedArrayCreate", variant, rc);
    if (rc != CUDA_SUCCESS)
        return;
    unsigned count = 0;
    while (cuMipmappedArrayGetLevel(&last, array, count) == CUDA_SUCCESS && count < 64)
        count++;
    memset(&d, 0, sizeof d);
    if (count > 0)
        TRY(cuMipmappedArrayGetLevel(&last, array, count - 1));
    TRY(cuArray3DGetDescriptor(&d, last));
    row("cuMipmappedArrayGetLevel", variant, "%u, the last %zu wide, beyond: %d", count, d.Width,
        (int)cuMipmappedArrayGetLevel(&beyond, array, count));
    TRY(cuMipmappedArrayDestroy(array));
}

static void ask_mipmaps(void)
{
    CUmipmappedArray array = NULL;
    CUarray level = NULL, again = NULL;
    CUDA_ARRAY3D_DESCRIPTOR d = image(2048, 0);
    levels_row(0, 1024);
    levels_row(1, 1024);
    levels_row(5, 1024);
    levels_row(11, 1024);
    levels_row(12, 1024);
    from_here();
    TRY(cuMipmappedArrayCreate(&array, &d, 12));
    row_taken("64 MB and its 11 smaller levels");
    TRY(cuMipmappedArrayGetLevel(&level, array, 0));
    TRY(cuMipmappedArrayGetLevel(&again, array, 0));
    row("cuMipmappedArrayGetLevel", "twice, the handles are", level == again ? "the same" : "two");
    ROW("cuArrayDestroy", "a level", cuArrayDestroy(level));
    read_late(0);
    ROW_WAITS("cuMipmappedArrayDestroy", "a stream busy", cuMipmappedArrayDestroy(array));
    settle();
    row_taken("destroyed");
    d.Width = 0;
    ROW("cuMipmappedArrayCreate", "no width", cuMipmappedArrayCreate(&array, &d, 1));
}

static void ask_deferred(void)
{
    CUarray array = NULL;
    CUmipmappedArray levels = NULL;
    CUDA_ARRAY3D_DESCRIPTOR plain = image(1024, 0);
    CUDA_ARRAY3D_DESCRIPTOR deferred = image(1024, CUDA_ARRAY3D_DEFERRED_MAPPING);
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
    from_here();
    memset(&needs, 0, sizeof needs);
    TRY(cuArray3DCreate(&array, &plain));
    ROW("cuArrayGetMemoryRequirements", "not deferred",
        cuArrayGetMemoryRequirements(&needs, array, device));
    row_taken("an array of 16 MB");
    read_late(0);
    ROW_WAITS("cuArrayDestroy", "a stream busy", cuArrayDestroy(array));
    settle();
    ROW("cuArray3DCreate", "deferred", cuArray3DCreate(&array, &deferred));
    row_taken("deferred");
    CUresult rc = cuArrayGetMemoryRequirements(&needs, array, device);
    row("cuArrayGetMemoryRequirements", "deferred, of 16 MB", "%d, %zu KB, aligned to %zu KB",
        (int)rc, needs.size / KB, needs.alignment / KB);
    ROW("cuMipmappedArrayCreate", "deferred", cuMipmappedArrayCreate(&levels, &deferred, 11));
    if (levels) {
        rc = cuMipmappedArrayGetMemoryRequirements(&needs, levels, device);
        row("cuMipmappedArrayGetMemoryRequirements", "deferred, of 16 MB",
            "%d, %zu KB, aligned to %zu KB", (int)rc, needs.size / KB, needs.alignment / KB);
    }
}

/* ---- limits ---- */

static const char heap_ptx[] = ".version 7.0\n"
                               ".target sm_52\n"
                               ".address_size 64\n"
                               ".extern .func (.param .b64 result) malloc (.param .b64 bytes);\n"
                               ".visible .entry take(.param .u64 count)\n"
                               "{\n"
                               "    .reg .b64 %n, %p;\n"
                               "    ld.param.u64 %n, [count];\n"
                               "    {\n"
                               "    .param .b64 bytes;\n"
                               "    .param .b64 result;\n"
                               "    st.param.b64 [bytes], %n;\n"
                               "    call.uni (result), malloc, (bytes);\n"
                               "    ld.param.b64 %p, [result];\n"
                               "    }\n"
                               "    ret;\n"
                               "}\n";

static size_t limit_of(CUlimit limit)
{
    size_t value = 0;
    TRY(cuCtxGetLimit(&value, limit));
    return value;
}

static void limit_row(const char *name, CUlimit limit, size_t value)
{
    char variant[64];
    CUresult rc = cuCtxSetLimit(limit, value);
    size_t now = 0;
    cuCtxGetLimit(&now, limit); /* or there is no such limit */
    snprintf(variant, sizeof variant, "%zu", value);
    row(name, variant, "%d, then %zu", (int)rc, now);
}

static void limit_rows(const char *name, CUlimit limit, const size_t *values, size_t count)
{
    size_t value = 0;
    CUresult rc = cuCtxGetLimit(&value, limit);
    row(name, "at first", "%d, %zu", (int)rc, value);
    for (size_t i = 0; i < count; i++)
        limit_row(name, limit, values[i]);
}

#define LIMIT(limit, ...)                                                                          \
    do {                                                                                           \
        static const size_t values_[] = {__VA_ARGS__};                                             \
        limit_rows(#limit, limit, values_, COUNT(values_));                                        \
    } while (0)

static void ask_limits(void)
{
    LIMIT(CU_LIMIT_STACK_SIZE, 0, 1, 1000, 1024, 65536, 512 * KB, 1024 * MB, 1024);
    LIMIT(CU_LIMIT_PRINTF_FIFO_SIZE, 0, 1, 100000, 8 * MB);
    LIMIT(CU_LIMIT_MALLOC_HEAP_SIZE, 0, 1, 16 * MB, 16 * MB + 1);
    LIMIT(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 0, 3, 4);
    LIMIT(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 0, 100, 4096);
    LIMIT(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 0, 64, 100, 256);
    LIMIT(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0, MB, (size_t)1 << 40);
    LIMIT(CU_LIMIT_SHMEM_SIZE, 0);
    LIMIT(CU_LIMIT_CIG_ENABLED, 0);
    ROW("cuCtxSetLimit", "limit 77", cuCtxSetLimit((CUlimit)77, 1));
}

/* What comes first decides whether a limit may still be changed. */
static void late_limits(const char *when)
{
    static const struct {
        const char *name;
        CUlimit limit;
        size_t value;
    } late[] = {{"CU_LIMIT_STACK_SIZE", CU_LIMIT_STACK_SIZE, 2048},
                {"CU_LIMIT_PRINTF_FIFO_SIZE", CU_LIMIT_PRINTF_FIFO_SIZE, 2 * MB},
                {"CU_LIMIT_MALLOC_HEAP_SIZE", CU_LIMIT_MALLOC_HEAP_SIZE, 32 * MB}};
    for (size_t i = 0; i < COUNT(late); i++) {
        size_t before = limit_of(late[i].limit);
        CUresult rc = cuCtxSetLimit(late[i].limit, late[i].value);
        row(late[i].name, when, "%d, then %zu", (int)rc, limit_of(late[i].limit));
        if (rc == CUDA_SUCCESS)
            TRY(cuCtxSetLimit(late[i].limit, before));
    }
}

static void ask_late_limits(void)
{
    CUmodule module = NULL;
    CUfunction empty = load_kernel("empty", &module);
    late_limits("a module is loaded");
    TRY(launch(empty, stream));
    settle();
    late_limits("a kernel has run");
    read_late(0);
    ROW_WAITS("CU_LIMIT_STACK_SIZE", "a stream busy", cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    settle();
    ROW_CAPTURED("CU_LIMIT_STACK_SIZE", cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 8192));
    ROW_CAPTURED("CU_LIMIT_MALLOC_HEAP_SIZE", cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 * MB));
    ROW_CAPTURED("CU_LIMIT_PRINTF_FIFO_SIZE", cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 4 * MB));
    read_late(0);
    ROW_WAITS("CU_LIMIT_MALLOC_HEAP_SIZE", "a stream busy",
              cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 128 * MB));
    settle();
}

static void ask_heap(void)
{
    CUmodule module = NULL;
    CUfunction take = NULL;
    uint64_t bytes = 1024;
    void *params[] = {&bytes};
    TRY(cuModuleLoadData(&module, heap_ptx));
    late_limits("a module with malloc is loaded");
    TRY(cuModuleGetFunction(&take, module, "take"));
    late_limits("a function with malloc is asked for");
    TRY(cuLaunchKernel(take, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    settle();
    late_limits("a kernel with malloc has run");
    TRY(cuModuleUnload(module));
    late_limits("it is unloaded");
}

/* ---- what waits, and what captures forbid ---- */

static void ask_waits(void)
{
    CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_NONE);
    CUdeviceptr at = pooled(pool, MB);
    settle();
    read_late(at);
    ROW_WAITS("cuMemPoolTrimTo", "in flight", cuMemPoolTrimTo(pool, 0));
    settle();
    read_late(at);
    ROW_WAITS("cuMemPoolDestroy", "in flight", cuMemPoolDestroy(pool));
    settle();
}

static void ask_captures(void)
{
    CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CUmemPoolPtrExportData data;
    CUipcMemHandle handle;
    CUmipmappedArray array = NULL;
    CUDA_ARRAY3D_DESCRIPTOR d = image(64, 0);
    CUexternalMemory memory = NULL;
    CUdeviceptr block = device_block(), from_pool = pooled(pool, MB);
    cuuint64_t bytes = 0;
    int fd = -1, shared = exported_fd(G);
    settle();
    ROW_CAPTURED("cuIpcGetMemHandle", cuIpcGetMemHandle(&handle, block));
    ROW_CAPTURED("cuMipmappedArrayCreate", cuMipmappedArrayCreate(&array, &d, 1));
    if (!array)
        TRY(cuMipmappedArrayCreate(&array, &d, 1));
    ROW_CAPTURED("cuMipmappedArrayDestroy", cuMipmappedArrayDestroy(array));
    ROW_CAPTURED("cuImportExternalMemory", import(&memory, shared, G, 0));
    ROW_CAPTURED("cuDeviceGetGraphMemAttribute",
                 cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes));
    ROW_CAPTURED("cuDeviceSetGraphMemAttribute",
                 set_graph_attribute(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, 0));
    ROW_CAPTURED("cuDeviceGraphMemTrim", cuDeviceGraphMemTrim(device));
    ROW_CAPTURED("cuMemPoolExportPointer", cuMemPoolExportPointer(&data, from_pool));
    ROW_CAPTURED(
        "cuMemPoolExportToShareableHandle",
        cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ROW_CAPTURED("cuMemPoolSetAttribute",
                 set_attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 0));
    ROW_CAPTURED("cuMemPoolGetAttribute",
                 cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, device},
                              CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    ROW_CAPTURED("cuMemPoolSetAccess", cuMemPoolSetAccess(pool, &access, 1));
    ROW_CAPTURED("cuDeviceSetMemPool", cuDeviceSetMemPool(device, pool));
    ROW_CAPTURED("cuMemPoolDestroy", cuMemPoolDestroy(pool));
}

static void ask_more_captures(void)
{
    CUexternalMemory memory = NULL;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC all = {.offset = 0, .size = G};
    CUdeviceptr at = 0;
    CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), imported = NULL;
    CUmemPoolPtrExportData data;
    CUevent event = NULL;
    CUipcEventHandle handle;
    int fd = -1;
    TRY(import(&memory, exported_fd(G), G, 0));
    ROW_CAPTURED("cuExternalMemoryGetMappedBuffer",
                 cuExternalMemoryGetMappedBuffer(&at, memory, &all));
    if (!at)
        TRY(cuExternalMemoryGetMappedBuffer(&at, memory, &all));
    ROW_CAPTURED("cuDestroyExternalMemory", cuDestroyExternalMemory(memory));
    read_late(at);
    ROW_WAITS("cuMemFree", "of external memory, in flight", cuMemFree(at));
    settle();
    TRY(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ROW_CAPTURED("cuMemPoolImportFromShareableHandle",
                 cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)fd,
                                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    if (!imported)
        TRY(cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)fd,
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    TRY(cuMemPoolExportPointer(&data, pooled(pool, MB)));
    ROW_CAPTURED("cuMemPoolImportPointer", cuMemPoolImportPointer(&at, imported, &data));
    TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
    ROW_CAPTURED("cuIpcGetEventHandle", cuIpcGetEventHandle(&handle, event));
}

/* Opened and closed by another process, while a stream of its own captures. */
static void importing_captured(int from)
{
    CUipcMemHandle handle;
    CUdeviceptr at = 0;
    if (read(from, &handle, sizeof handle) != sizeof handle || set_up() != CUDA_SUCCESS)
        _exit(1);
    ROW_CAPTURED("cuIpcOpenMemHandle",
                 cuIpcOpenMemHandle(&at, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    if (!at)
        TRY(cuIpcOpenMemHandle(&at, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    ROW_CAPTURED("cuIpcCloseMemHandle", cuIpcCloseMemHandle(at));
    _exit(0);
}

static void ask_ipc_captures(void)
{
    int down[2];
    CUipcMemHandle handle;
    if (pipe(down) != 0)
        return;
    pid_t child = fork();
    if (child == 0)
        importing_captured(down[0]);
    set_up();
    TRY(cuIpcGetMemHandle(&handle, device_block()));
    if (write(down[1], &handle, sizeof handle) == sizeof handle)
        waitpid(child, NULL, 0);
}

#define IN_CONTEXT(name)                                                                           \
    static void enter_##name(void)                                                                 \
    {                                                                                              \
        if (set_up() == CUDA_SUCCESS)                                                              \
            ask_##name();                                                                          \
    }
IN_CONTEXT(pool)
IN_CONTEXT(pool_ends)
IN_CONTEXT(pool_share)
IN_CONTEXT(pool_refusals)
IN_CONTEXT(external)
IN_CONTEXT(graph)
IN_CONTEXT(graphs)
IN_CONTEXT(mipmaps)
IN_CONTEXT(deferred)
IN_CONTEXT(limits)
IN_CONTEXT(late_limits)
IN_CONTEXT(heap)
IN_CONTEXT(waits)
IN_CONTEXT(captures)
IN_CONTEXT(more_captures)

static const struct question questions[] = {
    {.name = "pool", .ask = enter_pool},
    {.name = "pool-ends", .ask = enter_pool_ends},
    {.name = "pool-share", .ask = enter_pool_share},
    {.name = "pool-refusals", .ask = enter_pool_refusals},
    {.name = "ipc", .ask = ask_ipc},
    {.name = "external", .ask = enter_external},
    {.name = "graph", .ask = enter_graph},
    {.name = "graphs", .ask = enter_graphs},
    {.name = "mipmaps", .ask = enter_mipmaps},
    {.name = "deferred", .ask = enter_deferred},
    {.name = "limits", .ask = enter_limits},
    {.name = "late-limits", .ask = enter_late_limits},
    {.name = "heap", .ask = enter_heap},
    {.name = "waits", .ask = enter_waits},
    {.name = "captures", .ask = enter_captures},
    {.name = "more-captures", .ask = enter_more_captures},
    {.name = "ipc-captures", .ask = ask_ipc_captures},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "conformance_memory",
        .questions = questions,
        .count = COUNT(questions),
        .question_s = 10,
        .untimed = true,
    };

    return ask_all(&inquiry, argc, argv);
}

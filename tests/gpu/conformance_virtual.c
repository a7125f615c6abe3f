/* What the driver makes of virtual memory: cuMemCreate, cuMemAddressReserve, cuMemMap and their
 * kin, their errors, what holds the memory, and what they wait for. */
#include "asking.h"

#include "memory_rows.h"

#include <unistd.h>

/* ---- granularity, creation ---- */

static void granularity_row(const char *what, CUmemAllocationProp prop, int option)
{
    size_t bytes = 0;
    CUresult rc =
        cuMemGetAllocationGranularity(&bytes, &prop, (CUmemAllocationGranularity_flags)option);
    row("cuMemGetAllocationGranularity", what, "%d, %zu KB", (int)rc, bytes / KB);
}

static void ask_granularity(void)
{
    CUmemAllocationProp prop = on_device(CU_MEM_HANDLE_TYPE_NONE);
    granularity_row("device, minimum", prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    granularity_row("device, recommended", prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    granularity_row("option 7", prop, 7);
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    granularity_row("device, shared, minimum", prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    prop = on_device(CU_MEM_HANDLE_TYPE_NONE);
    prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    granularity_row("no type", prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    prop = on_device(CU_MEM_HANDLE_TYPE_NONE);
    prop.location.id = 99;
    granularity_row("device 99", prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    prop.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    granularity_row("NUMA node 0, minimum", prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    prop.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0};
    granularity_row("host, minimum", prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
}

static void create_row(const char *what, size_t bytes, CUmemAllocationProp prop, unsigned flags)
{
    CUmemGenericAllocationHandle handle = 0;
    CUresult rc = cuMemCreate(&handle, bytes, &prop, flags);
    row("cuMemCreate", what, "%d", (int)rc);
    if (rc == CUDA_SUCCESS)
        TRY(cuMemRelease(handle));
}

static void ask_create(void)
{
    CUmemGenericAllocationHandle handle = 0;
    CUmemAllocationProp prop = on_device(CU_MEM_HANDLE_TYPE_NONE);
    create_row("a granule", G, prop, 0);
    create_row("no bytes", 0, prop, 0);
    create_row("4096 bytes", 4096, prop, 0);
    create_row("a granule and a byte", G + 1, prop, 0);
    create_row("2^60 bytes", (size_t)1 << 60, prop, 0);
    create_row("flags 1", G, prop, 1);
    ROW("cuMemCreate", "no handle", cuMemCreate(NULL, G, &prop, 0));
    ROW("cuMemCreate", "no properties", cuMemCreate(&handle, G, NULL, 0));
    prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    create_row("no type", G, prop, 0);
    prop = on_device(CU_MEM_HANDLE_TYPE_NONE);
    prop.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    create_row("no location", G, prop, 0);
    prop.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 99};
    create_row("device 99", G, prop, 0);
    prop.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    create_row("NUMA node 0", G, prop, 0);
    prop.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0};
    create_row("host", G, prop, 0);
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    create_row("host, shared by descriptor", G, prop, 0);
    prop.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    create_row("NUMA node 0, shared by descriptor", G, prop, 0);
    prop = on_device(CU_MEM_HANDLE_TYPE_NONE);
    prop.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0};
    create_row("current NUMA node", G, prop, 0);
    create_row("shared by descriptor", G, on_device(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), 0);
    TRY(cuCtxSetCurrent(NULL));
    create_row("no context", G, on_device(CU_MEM_HANDLE_TYPE_NONE), 0);
}

/* ---- what holds the memory ---- */

static void ask_held(void)
{
    from_here();
    CUmemGenericAllocationHandle handle = physical(64 * MB), again = 0;
    row_taken("64 MB created");
    CUdeviceptr at = addresses(128 * MB);
    row_taken("addresses reserved");
    TRY(cuMemMap(at, 64 * MB, 0, handle, 0));
    TRY(give_access(at, 64 * MB));
    row_taken("mapped");
    TRY(cuMemMap(at + 64 * MB, 64 * MB, 0, handle, 0));
    row_taken("mapped twice");
    ROW("cuMemRelease", "mapped", cuMemRelease(handle));
    row_taken("released, mapped twice");
    TRY(cuMemUnmap(at, 64 * MB));
    row_taken("released, mapped once");
    ROW("cuMemRetainAllocationHandle", "of a mapping whose handle is released",
        cuMemRetainAllocationHandle(&again, (void *)(at + 64 * MB)));
    row("cuMemRetainAllocationHandle", "the handle is", again == handle ? "the same" : "another");
    TRY(cuMemUnmap(at + 64 * MB, 64 * MB));
    row_taken("not mapped, retained");
    ROW("cuMemRelease", "of what was retained", cuMemRelease(again));
    row_taken("released");
    ROW("cuMemAddressFree", "all", cuMemAddressFree(at, 128 * MB));
}

static void ask_references(void)
{
    CUmemGenericAllocationHandle handle = physical(G), again = 0, more = 0;
    CUmemAllocationProp prop;
    CUdeviceptr at = addresses(2 * G), plain = 0;
    TRY(cuMemMap(at, G, 0, handle, 0));
    TRY(give_access(at, G));
    TRY(cuMemsetD8(at, 7, G));
    ROW("cuMemRetainAllocationHandle", "in the middle of a mapping",
        cuMemRetainAllocationHandle(&again, (void *)(at + 4097)));
    row("cuMemRetainAllocationHandle", "live handle", again == handle ? "the same" : "another");
    TRY(cuMemAlloc(&plain, G));
    ROW("cuMemRetainAllocationHandle", "not mapped",
        cuMemRetainAllocationHandle(&more, (void *)(at + G)));
    ROW("cuMemRetainAllocationHandle", "NULL", cuMemRetainAllocationHandle(&more, NULL));
    ROW("cuMemRetainAllocationHandle", "memory of cuMemAlloc",
        cuMemRetainAllocationHandle(&more, (void *)plain));
    ROW("cuMemRelease", "the first of two references", cuMemRelease(handle));
    ROW("cuMemGetAllocationPropertiesFromHandle", "one reference left",
        cuMemGetAllocationPropertiesFromHandle(&prop, handle));
    ROW("cuMemRelease", "the second of two references", cuMemRelease(again));
    ROW("cuMemMap", "no reference left, mapped elsewhere", cuMemMap(at + G, G, 0, handle, 0));
    ROW("cuMemGetAllocationPropertiesFromHandle", "no reference left, mapped",
        cuMemGetAllocationPropertiesFromHandle(&prop, handle));
    ROW("cuMemRelease", "no reference left, mapped", cuMemRelease(handle));
    row("memory", "no reference left, mapped", "%u", byte_at(at));
    ROW("cuMemUnmap", "the last mapping", cuMemUnmap(at, G));
    ROW("cuMemRelease", "gone", cuMemRelease(handle));
    ROW("cuMemRelease", "0", cuMemRelease(0));
}

/* Of a handle that was never one the driver dies. */
static void ask_unknown(void)
{
    CUmemAllocationProp prop;
    ROW("cuMemGetAllocationPropertiesFromHandle", "0",
        cuMemGetAllocationPropertiesFromHandle(&prop, 0));
    ROW("cuMemMap", "handle 0", cuMemMap(addresses(G), G, 0, 0, 0));
}

/* ---- addresses ---- */

static void reserve_row(const char *what, size_t bytes, size_t alignment, CUdeviceptr hint,
                        unsigned long long flags)
{
    CUdeviceptr at = 0;
    CUresult rc = cuMemAddressReserve(&at, bytes, alignment, hint, flags);
    const char *where = rc != CUDA_SUCCESS            ? "none"
                        : hint && at == hint          ? "as asked"
                        : alignment && at % alignment ? "not aligned"
                                                      : "aligned";
    row("cuMemAddressReserve", what, "%d, %s", (int)rc, where);
    if (rc == CUDA_SUCCESS)
        TRY(cuMemAddressFree(at, bytes));
}

/* An address that was free a moment ago. Another thread may have mapped something there since: the
 * driver is asked of another one then. */
static void reserve_free_row(void)
{
    CUdeviceptr free_one = 0;
    CUdeviceptr at = 0;
    for (int i = 0; i < 16 && (i == 0 || at != free_one); i++) {
        free_one = addresses(8 * G);
        TRY(cuMemAddressFree(free_one, 8 * G));
        TRY(cuMemAddressReserve(&at, G, 0, free_one, 0));
        TRY(cuMemAddressFree(at, G));
    }
    row("cuMemAddressReserve", "an address that is free", "0, %s",
        at == free_one ? "as asked" : "elsewhere");
}

static void ask_reserve(void)
{
    reserve_row("a granule", G, 0, 0, 0);
    reserve_row("no bytes", 0, 0, 0, 0);
    reserve_row("4096 bytes", 4096, 0, 0, 0);
    reserve_row("64 KB", 64 * KB, 0, 0, 0);
    reserve_row("a granule and a byte", G + 1, 0, 0, 0);
    reserve_row("alignment 3", G, 3, 0, 0);
    reserve_row("alignment 4096", G, 4096, 0, 0);
    reserve_row("alignment of two granules", G, 2 * G, 0, 0);
    reserve_row("alignment 1 GB", G, 1024 * MB, 0, 0);
    reserve_free_row();
    reserve_row("an odd address", G, 0, 8 * G + 4096, 0);
    reserve_row("flags 1", G, 0, 0, 1);
    reserve_row("2^60 bytes", (size_t)1 << 60, 0, 0, 0);
    ROW("cuMemAddressReserve", "no pointer", cuMemAddressReserve(NULL, G, 0, 0, 0));
    CUdeviceptr at = addresses(4 * G);
    reserve_row("an address that is taken", G, 0, at, 0);
    ROW("cuMemAddressFree", "a part", cuMemAddressFree(at, G));
    ROW("cuMemAddressFree", "from the middle", cuMemAddressFree(at + G, 3 * G));
    ROW("cuMemAddressFree", "more", cuMemAddressFree(at, 8 * G));
    ROW("cuMemAddressFree", "all", cuMemAddressFree(at, 4 * G));
    ROW("cuMemAddressFree", "twice", cuMemAddressFree(at, 4 * G));
    at = mapped(G);
    ROW("cuMemAddressFree", "mapped", cuMemAddressFree(at, G));
    ROW("cuMemUnmap", "behind that", cuMemUnmap(at, G));
    ROW("cuMemAddressFree", "no longer mapped", cuMemAddressFree(at, G));
    TRY(cuCtxSetCurrent(NULL));
    ROW("cuMemAddressReserve", "no context", cuMemAddressReserve(&at, G, 0, 0, 0));
}

/* ---- mappings ---- */

static void ask_map(void)
{
    CUmemGenericAllocationHandle two = physical(2 * G);
    CUdeviceptr at = addresses(4 * G);
    ROW("cuMemMap", "not reserved", cuMemMap(at + 64 * G, G, 0, physical(G), 0));
    ROW("cuMemMap", "an odd address", cuMemMap(at + 4096, 2 * G, 0, two, 0));
    ROW("cuMemMap", "no bytes", cuMemMap(at, 0, 0, two, 0));
    ROW("cuMemMap", "an odd size", cuMemMap(at, G + 4096, 0, two, 0));
    ROW("cuMemMap", "more than the memory", cuMemMap(at, 4 * G, 0, two, 0));
    ROW("cuMemMap", "offset 4096", cuMemMap(at, G, 4096, two, 0));
    ROW("cuMemMap", "flags 1", cuMemMap(at, 2 * G, 0, two, 1));
    ROW("cuMemMap", "a part of the memory", cuMemMap(at, G, 0, two, 0));
    ROW("cuMemMap", "at an offset", cuMemMap(at + G, G, G, two, 0));
    ROW("cuMemMap", "all of the memory", cuMemMap(at, 2 * G, 0, two, 0));
    ROW("cuMemMap", "over another mapping", cuMemMap(at + G, 2 * G, 0, two, 0));
}

/* That it lies in one reservation the driver does not look at. */
static void ask_beyond(void)
{
    ROW("cuMemMap", "beyond the end", cuMemMap(addresses(G), 2 * G, 0, physical(2 * G), 0));
}

static void ask_unmap(void)
{
    CUdeviceptr at = addresses(4 * G);
    CUmemGenericAllocationHandle two = physical(2 * G);
    TRY(cuMemMap(at, 2 * G, 0, two, 0));
    TRY(cuMemMap(at + 2 * G, G, 0, physical(G), 0));
    ROW("cuMemUnmap", "no bytes", cuMemUnmap(at, 0));
    ROW("cuMemUnmap", "half of a mapping", cuMemUnmap(at, G));
    ROW("cuMemUnmap", "the other half of a mapping", cuMemUnmap(at + G, G));
    ROW("cuMemUnmap", "two mappings", cuMemUnmap(at, 3 * G));
    ROW("cuMemUnmap", "not mapped", cuMemUnmap(at, G));
    TRY(cuMemMap(at, 2 * G, 0, two, 0));
    ROW("cuMemUnmap", "a mapping and what is not mapped", cuMemUnmap(at, 3 * G));
    ROW("cuMemUnmap", "not reserved", cuMemUnmap(at + 64 * G, G));
}

static void access_row(const char *what, CUdeviceptr at, size_t bytes, CUmemLocation location,
                       int flags)
{
    CUmemAccessDesc access = {location, (CUmemAccess_flags)flags};
    ROW("cuMemSetAccess", what, cuMemSetAccess(at, bytes, &access, 1));
}

static void accessible_row(const char *what, CUdeviceptr at)
{
    unsigned long long flags = 77;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    CUresult rc = cuMemGetAccess(&flags, &here, at);
    row("cuMemGetAccess", what, "%d, %llu", (int)rc, flags);
}

static void ask_access(void)
{
    const CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    CUdeviceptr at = addresses(4 * G);
    TRY(cuMemMap(at, 2 * G, 0, physical(2 * G), 0));
    TRY(cuMemMap(at + 2 * G, G, 0, physical(G), 0));
    accessible_row("new", at);
    access_row("no bytes", at, 0, here, 3);
    access_row("half of a mapping", at, G, here, 3);
    access_row("an odd size", at, 4096, here, 3);
    accessible_row("behind that", at);
    access_row("two mappings", at, 3 * G, here, 3);
    accessible_row("read and write", at + G + 4096);
    access_row("a mapping and what is not mapped", at, 4 * G, here, 3);
    access_row("flags 2", at, 2 * G, here, 2);
    access_row("read", at, 2 * G, here, 1);
    accessible_row("read", at);
    access_row("none", at, 2 * G, here, 0);
    accessible_row("none", at);
    access_row("device 99", at, 2 * G, (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 99}, 3);
    access_row("host", at, 2 * G, (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0}, 3);
    access_row("NUMA node 0", at, 2 * G, (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}, 3);
    access_row("not mapped", at + 3 * G, G, here, 3);
    ROW("cuMemSetAccess", "no locations", cuMemSetAccess(at, G, NULL, 0));
    accessible_row("not mapped", at + 3 * G);
}

static void ask_no_access(void)
{
    CUdeviceptr at = addresses(G);
    TRY(cuMemMap(at, G, 0, physical(G), 0));
    ROW("cuMemsetD8", "mapped, no access", cuMemsetD8(at, 1, 4096));
    ROW("cuCtxSynchronize", "behind that", cuCtxSynchronize());
}

static void ask_not_mapped(void)
{
    CUdeviceptr at = addresses(G);
    ROW("cuMemsetD8", "reserved, not mapped", cuMemsetD8(at, 1, 4096));
    ROW("cuCtxSynchronize", "behind that", cuCtxSynchronize());
}

/* ---- what is told of an address ---- */

static void told_rows(const char *what, CUdeviceptr at)
{
    CUdeviceptr base = 0, start = 0;
    size_t bytes = 0, size = 0;
    unsigned type = 0, is_mapped = 77;
    int ordinal = 77;
    CUcontext context = NULL;
    CUmemoryPool pool = NULL;
    CUresult rc = cuMemGetAddressRange(&base, &bytes, at);
    row("cuMemGetAddressRange", what, "%d, at +%lld, %zu KB", (int)rc,
        rc ? 0 : (long long)(base - at), bytes / KB);
    ROW("CU_POINTER_ATTRIBUTE_MEMORY_TYPE", what,
        cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at));
    rc = cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at);
    row("CU_POINTER_ATTRIBUTE_RANGE_START_ADDR", what, "%d, at +%lld", (int)rc,
        rc ? 0 : (long long)(start - at));
    rc = cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, at);
    row("CU_POINTER_ATTRIBUTE_RANGE_SIZE", what, "%d, %zu KB", (int)rc, size / KB);
    rc = cuPointerGetAttribute(&is_mapped, CU_POINTER_ATTRIBUTE_MAPPED, at);
    row("CU_POINTER_ATTRIBUTE_MAPPED", what, "%d, %u", (int)rc, is_mapped & 0xff);
    rc = cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at);
    row("CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL", what, "%d, %d", (int)rc, ordinal);
    rc = cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, at);
    row("CU_POINTER_ATTRIBUTE_CONTEXT", what, "%d, %s", (int)rc, context ? "one" : "none");
    rc = cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, at);
    row("CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE", what, "%d, %s", (int)rc, pool ? "one" : "none");
}

static void ask_told(void)
{
    CUipcMemHandle ipc;
    CUdeviceptr at = addresses(4 * G);
    TRY(cuMemMap(at, G, 0, physical(G), 0));
    TRY(cuMemMap(at + G, 2 * G, 0, physical(2 * G), 0));
    TRY(give_access(at, 3 * G));
    told_rows("in the second mapping", at + G + 4096);
    told_rows("reserved", at + 3 * G);
    told_rows("not reserved", at + 64 * G);
    ROW("cuMemFree", "mapped", cuMemFree(at));
    ROW("cuMemFreeAsync", "mapped", cuMemFreeAsync(at, stream));
    ROW("cuIpcGetMemHandle", "mapped", cuIpcGetMemHandle(&ipc, at));
}

/* ---- sharing ---- */

static CUresult export_fd(CUmemGenericAllocationHandle handle, int *fd)
{
    *fd = -1;
    return cuMemExportToShareableHandle(fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
}

static CUresult import_fd(CUmemGenericAllocationHandle *handle, int fd)
{
    return cuMemImportFromShareableHandle(handle, (void *)(intptr_t)fd,
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

static void ask_share(void)
{
    CUmemAllocationProp prop = on_device(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CUmemGenericAllocationHandle handle = 0, first = 0, second = 0;
    int fd = -1, again = -1, none[2];
    from_here();
    ROW("cuMemExportToShareableHandle", "not asked for", export_fd(physical(G), &fd));
    TRY(cuMemCreate(&handle, 64 * MB, &prop, 0));
    ROW("cuMemExportToShareableHandle", "asked for", export_fd(handle, &fd));
    ROW("cuMemExportToShareableHandle", "once more", export_fd(handle, &again));
    row("cuMemExportToShareableHandle", "descriptors", fd == again ? "the same" : "two");
    ROW("cuMemExportToShareableHandle", "another type",
        cuMemExportToShareableHandle(&none, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0));
    ROW("cuMemImportFromShareableHandle", "in the same process", import_fd(&first, fd));
    ROW("cuMemImportFromShareableHandle", "once more", import_fd(&second, again));
    row("cuMemImportFromShareableHandle", "the handle is",
        first == handle ? "the exported one" : "another");
    row("cuMemImportFromShareableHandle", "the handles are", first == second ? "the same" : "two");
    row_taken("imported twice");
    memset(&prop, 0, sizeof prop);
    ROW("cuMemGetAllocationPropertiesFromHandle", "imported",
        cuMemGetAllocationPropertiesFromHandle(&prop, first));
    row("cuMemGetAllocationPropertiesFromHandle", "imported, shared as", "%d, device %d",
        (int)prop.requestedHandleTypes, prop.location.id);
    close(fd);
    close(again);
    TRY(cuMemRelease(handle));
    row_taken("the exported one released");
    TRY(cuMemRelease(first));
    row_taken("an imported one released");
    ROW("cuMemRelease", "the last one", cuMemRelease(second));
    row_taken("all released");
    ROW("cuMemImportFromShareableHandle", "a descriptor that is closed", import_fd(&first, fd));
    TRY((CUresult)pipe(none));
    ROW("cuMemImportFromShareableHandle", "a pipe", import_fd(&first, none[0]));
}

/* A descriptor keeps the memory. */
static void ask_exported(void)
{
    CUmemAllocationProp prop = on_device(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CUmemGenericAllocationHandle handle = 0;
    int fd = -1;
    from_here();
    TRY(cuMemCreate(&handle, 64 * MB, &prop, 0));
    TRY(export_fd(handle, &fd));
    TRY(cuMemRelease(handle));
    row_taken("released, exported");
    ROW("cuMemImportFromShareableHandle", "released", import_fd(&handle, fd));
    TRY(cuMemRelease(handle));
    close(fd);
    row_taken("the descriptor closed");
}

/* ---- what waits, and what captures forbid ---- */

static void ask_waits(void)
{
    CUdeviceptr used = mapped(G), other = mapped(G), at = addresses(G);
    CUmemGenericAllocationHandle handle = physical(G);
    read_late(used);
    ROW_WAITS("cuMemUnmap", "unrelated, another stream busy", cuMemUnmap(other, G));
    settle();
    read_late(used);
    ROW_WAITS("cuMemAddressFree", "unrelated, another stream busy", cuMemAddressFree(other, G));
    settle();
    read_late(used);
    ROW_WAITS("cuMemMap", "another stream busy", cuMemMap(at, G, 0, handle, 0));
    settle();
    read_late(used);
    ROW_WAITS("cuMemSetAccess", "another stream busy", give_access(at, G));
    settle();
    TRY(cuMemUnmap(at, G));
    read_late(used);
    ROW_WAITS("cuMemRelease", "the last reference, another stream busy", cuMemRelease(handle));
    settle();
    read_late(used);
    ROW_WAITS("cuMemCreate", "another stream busy", (handle = physical(G)) ? 0 : 1);
    settle();
}

static void ask_unmap_in_flight(void)
{
    CUdeviceptr used = mapped(G);
    read_late(used);
    ROW_WAITS("cuMemUnmap", "in flight", cuMemUnmap(used, G));
    ROW("cuStreamSynchronize", "behind that", cuStreamSynchronize(stream));
}

static void ask_access_in_flight(void)
{
    const CUmemAccessDesc none = {{CU_MEM_LOCATION_TYPE_DEVICE, device},
                                  CU_MEM_ACCESS_FLAGS_PROT_NONE};
    CUdeviceptr used = mapped(G);
    read_late(used);
    ROW_WAITS("cuMemSetAccess", "none, in flight", cuMemSetAccess(used, G, &none, 1));
    ROW("cuStreamSynchronize", "behind that", cuStreamSynchronize(stream));
}

static void ask_captures(void)
{
    CUmemGenericAllocationHandle handle = physical(G), more = 0;
    CUmemAllocationProp prop = on_device(CU_MEM_HANDLE_TYPE_NONE);
    CUdeviceptr at = 0;
    size_t bytes = 0;
    ROW_CAPTURED("cuMemGetAllocationGranularity",
                 cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    ROW_CAPTURED("cuMemCreate", cuMemCreate(&more, G, &prop, 0));
    ROW_CAPTURED("cuMemAddressReserve", cuMemAddressReserve(&at, G, 0, 0, 0));
    at = at ? at : addresses(G);
    ROW_CAPTURED("cuMemMap", cuMemMap(at, G, 0, handle, 0));
    cuMemMap(at, G, 0, handle, 0); /* where the row's own was refused */
    ROW_CAPTURED("cuMemSetAccess", give_access(at, G));
    ROW_CAPTURED("cuMemRetainAllocationHandle", cuMemRetainAllocationHandle(&more, (void *)at));
    ROW_CAPTURED("cuMemUnmap", cuMemUnmap(at, G));
    cuMemUnmap(at, G);
    ROW_CAPTURED("cuMemRelease", cuMemRelease(handle));
    ROW_CAPTURED("cuMemAddressFree", cuMemAddressFree(at, G));
}

/* ---- the end of the context ---- */

static void ask_reset(void)
{
    CUdeviceptr at = mapped(G), pooled = 0;
    TRY(cuMemsetD8(at, 5, G));
    TRY(cuMemAllocAsync(&pooled, G, stream));
    TRY(cuMemsetD8Async(pooled, 6, G, stream));
    settle();
    TRY(cuDevicePrimaryCtxReset(device));
    enter_primary();
    row("memory of cuMemCreate", "the primary context is another", "%u", byte_at(at));
    ROW("cuMemUnmap", "the primary context is another", cuMemUnmap(at, G));
    ROW("cuMemFree", "of a pool, the primary context is another", cuMemFree(pooled));
}

static const struct question questions[] = {
    {.name = "granularity", .ask = ask_granularity},
    {.name = "create", .ask = ask_create},
    {.name = "held", .ask = ask_held},
    {.name = "references", .ask = ask_references},
    {.name = "unknown", .ask = ask_unknown},
    {.name = "reserve", .ask = ask_reserve},
    {.name = "map", .ask = ask_map},
    {.name = "beyond", .ask = ask_beyond},
    {.name = "unmap", .ask = ask_unmap},
    {.name = "access", .ask = ask_access},
    {.name = "no-access", .ask = ask_no_access},
    {.name = "not-mapped", .ask = ask_not_mapped},
    {.name = "told", .ask = ask_told},
    {.name = "share", .ask = ask_share},
    {.name = "exported", .ask = ask_exported},
    {.name = "waits", .ask = ask_waits},
    {.name = "unmap-in-flight", .ask = ask_unmap_in_flight},
    {.name = "access-in-flight", .ask = ask_access_in_flight},
    {.name = "captures", .ask = ask_captures},
    {.name = "reset", .ask = ask_reset},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "conformance_virtual",
        .questions = questions,
        .count = COUNT(questions),
        .set_up = set_up,
        .question_s = 10,
        .untimed = true,
    };

    return ask_all(&inquiry, argc, argv);
}

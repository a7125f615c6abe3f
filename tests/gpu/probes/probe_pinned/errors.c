/* What wrong calls, and calls for other kinds of memory, answer. */
#include "world.h"

#include <string.h>

static void allocate_wrongly(void)
{
    void *again = (void *)0x11;

    say("AllocHost NULL pointer: %d\n", (int)cuMemAllocHost(NULL, 4096));
    say("HostAlloc NULL pointer: %d, size 0 too: %d\n", (int)cuMemHostAlloc(NULL, 4096, 0),
        (int)cuMemHostAlloc(NULL, 0, 0));
    for (unsigned bit = 3; bit < 32; bit += 1)
        if (cuMemHostAlloc(&again, MB, 1u << bit) != CUDA_ERROR_INVALID_VALUE)
            say("HostAlloc flag 1<<%u is known, %p\n", bit, again);
    say("HostAlloc unknown flag 8: %d", (int)cuMemHostAlloc(&again, MB, 8));
    say(", pointer %p\n", again);
    again = (void *)0x11;
    say("HostAlloc size 0: %d", (int)cuMemHostAlloc(&again, 0, 0));
    say(", pointer %p\n", again);
    const size_t big[] = {1UL << 60, (size_t)-1, (size_t)-4096, 1UL << 46, 1UL << 42};
    for (unsigned i = 0; i < COUNT(big); i++) {
        again = (void *)0x11;
        double before = now_us();
        CUresult rc = cuMemHostAlloc(&again, big[i], 0);
        say("HostAlloc 0x%zx: %d, pointer %p, %.0f us\n", big[i], (int)rc, again,
            now_us() - before);
        if (rc == CUDA_SUCCESS)
            cuMemFreeHost(again);
    }
}

static void misuse_allocated(size_t bytes)
{
    void *a = NULL;

    cuMemHostAlloc(&a, bytes, 0);
    say("allocated %s: Unregister %d, inside %d", size_text(bytes), (int)cuMemHostUnregister(a),
        (int)cuMemHostUnregister((char *)a + 4));
    say("; Register %d, inside %d, beyond %d, around %d", (int)cuMemHostRegister(a, bytes, 0),
        (int)cuMemHostRegister((char *)a + 4, 2, 0),
        (int)cuMemHostRegister((char *)a + bytes / 2, bytes, 0),
        (int)cuMemHostRegister((char *)((uintptr_t)a & ~4095UL), 4096, 0));
    say("; FreeHost inside %d", (int)cuMemFreeHost((char *)a + 4));
    say("; cuMemFree %d", (int)cuMemFree((CUdeviceptr)(uintptr_t)a));
    say("; FreeHost %d", (int)cuMemFreeHost(a));
    say("; twice %d; Unregister then %d\n", (int)cuMemFreeHost(a), (int)cuMemHostUnregister(a));
}

static void misuse_registered(char *r)
{
    say("registered: %d", (int)cuMemHostRegister(r, MB, 0));
    say("; FreeHost %d, inside %d; cuMemFree %d", (int)cuMemFreeHost(r),
        (int)cuMemFreeHost(r + 4096), (int)cuMemFree((CUdeviceptr)(uintptr_t)r));
    say("; Register again %d, inside %d, around %d", (int)cuMemHostRegister(r, MB, 0),
        (int)cuMemHostRegister(r + 4096, 4096, 0), (int)cuMemHostRegister(r, 2 * MB, 0));
    say("; Unregister inside %d", (int)cuMemHostUnregister(r + 4096));
    say("; Unregister %d", (int)cuMemHostUnregister(r));
    say("; twice %d\n", (int)cuMemHostUnregister(r));
}

/* Calls that are for other kinds of memory. */
static void ask_others(const char *kind, void *at)
{
    CUdeviceptr address = (uintptr_t)at, got = 0;
    CUipcMemHandle handle;
    CUmemGenericAllocationHandle generic = 0;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    int fd = -1, range_value = 0, one = 1;
    unsigned long long access = 0;

    say("%s: IpcGetMemHandle %d", kind, (int)cuIpcGetMemHandle(&handle, address));
    say(", RetainAllocationHandle %d", (int)cuMemRetainAllocationHandle(&generic, at));
    say(", HandleForAddressRange %d",
        (int)cuMemGetHandleForAddressRange(&fd, address, MB, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
                                           0));
    say(", MemGetAccess %d", (int)cuMemGetAccess(&access, &here, address));
    say(", Advise %d", (int)cuMemAdvise(address, MB, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    say(", Prefetch %d", (int)cuMemPrefetchAsync(address, MB, here, 0, 0));
    say(", RangeGetAttribute %d",
        (int)cuMemRangeGetAttribute(&range_value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address,
                                    MB));
    say(", AttachMem %d", (int)cuStreamAttachMemAsync(0, address, 0, CU_MEM_ATTACH_GLOBAL));
    say(", FreeAsync %d", (int)cuMemFreeAsync(address, 0));
    say(", SetAttribute SYNC_MEMOPS %d",
        (int)cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
    say(", GetDevicePointer flags=1 %d", (int)cuMemHostGetDevicePointer(&got, at, 1));
    say(", MemsetD8 %d, sync %d\n", (int)cuMemsetD8(address, 7, MB), (int)cuCtxSynchronize());
}

void section_errors(void)
{
    void *a = NULL;
    char *r = map_huge(4 * MB);
    CUdeviceptr dev = 0;

    memset(r, 1, 4 * MB);
    allocate_wrongly();
    misuse_allocated(8);
    misuse_allocated(MB);
    misuse_registered(r);
    say("FreeHost: NULL %d, a mapping %d, a device address %d\n", (int)cuMemFreeHost(NULL),
        (int)cuMemFreeHost(r), (cuMemAlloc(&dev, MB), (int)cuMemFreeHost((void *)(uintptr_t)dev)));
    say("Unregister: NULL %d, a device address %d\n", (int)cuMemHostUnregister(NULL),
        (int)cuMemHostUnregister((void *)(uintptr_t)dev));
    cuMemHostAlloc(&a, MB, 0);
    cuMemHostRegister(r, MB, 3);
    say("copy across the end: allocated %d, registered %d\n",
        (int)cuMemcpyHtoDAsync(dev, (char *)a + MB - 4, 8, 0),
        (int)cuMemcpyHtoDAsync(dev, r + MB - 4, 8, 0));
    ask_others("allocated", a);
    ask_others("registered", r);
    say("sync %d\n", (int)cuCtxSynchronize());
}

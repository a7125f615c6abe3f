// expect-exit: 0
// link: cuda
//
// What the driver says of pinned allocations, whoever serves them: attributes, flags, ranges and
// errors, for small and large ones, at their first and last byte and behind it.
#include "lookup.h"

static CUcontext context;

static void show_attribute(const char *name, CUpointer_attribute which, uintptr_t base,
                           uintptr_t address)
{
    unsigned long long value = 0;
    CUresult result = cuPointerGetAttribute(&value, which, (CUdeviceptr)address);
    bool is_address = which == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
                      which == CU_POINTER_ATTRIBUTE_HOST_POINTER ||
                      which == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR;
    if (which == CU_POINTER_ATTRIBUTE_CONTEXT && result == CUDA_SUCCESS)
        value = value == (uintptr_t)context;
    else if (is_address && result == CUDA_SUCCESS)
        value -= base;
    printf("  %s: %d, %lld\n", name, (int)result, (long long)value);
}

static void show_place(const char *place, void *base, size_t offset)
{
    char *address = (char *)base + offset;
    unsigned flags = 0;
    CUdeviceptr on_device = 0;
    CUdeviceptr start = 0;
    size_t size = 0;
    CUresult result;
    printf(" %s\n", place);
#define ATTRIBUTE(name)                                                                            \
    show_attribute(#name, CU_POINTER_ATTRIBUTE_##name, (uintptr_t)base, (uintptr_t)address)
    ATTRIBUTE(CONTEXT);
    ATTRIBUTE(MEMORY_TYPE);
    ATTRIBUTE(DEVICE_POINTER);
    ATTRIBUTE(HOST_POINTER);
    ATTRIBUTE(IS_MANAGED);
    ATTRIBUTE(DEVICE_ORDINAL);
    ATTRIBUTE(RANGE_START_ADDR);
    ATTRIBUTE(RANGE_SIZE);
    ATTRIBUTE(MAPPED);
    result = cuMemHostGetFlags(&flags, address);
    printf("  flags: %d, %u\n", (int)result, flags);
    result = cuMemHostGetDevicePointer(&on_device, address, 0);
    printf("  device pointer: %d, %lld\n", (int)result,
           result == CUDA_SUCCESS ? (long long)(on_device - (uintptr_t)base) : 0);
    result = cuMemGetAddressRange(&start, &size, (CUdeviceptr)(uintptr_t)address);
    printf("  address range: %d, %lld, %zu\n", (int)result,
           result == CUDA_SUCCESS ? (long long)(start - (uintptr_t)base) : 0, size);
}

static void show_allocation(size_t size, unsigned flags)
{
    void *base = NULL;
    printf("%zu bytes, flags %u\n", size, flags);
    SHOW(cuMemHostAlloc(&base, size, flags));
    show_place("first byte", base, 0);
    show_place("last byte", base, size - 1);
    SHOW(cuMemHostUnregister(base));
    SHOW(cuMemHostRegister(base, size, 0));
    SHOW(cuMemFreeHost((char *)base + size / 2));
    memset(base, 1, size);
    SHOW(cuMemFreeHost(base));
    SHOW(cuMemFreeHost(base));
}

int main(void)
{
    CUdevice device = 0;
    void *memory = NULL;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    for (unsigned flags = 0; flags < 4; flags++)
        show_allocation((size_t)3 << 20, flags);
    show_allocation(5000, 0);
    show_allocation((size_t)1 << 20, 0);
    show_allocation((size_t)8000000, CU_MEMHOSTALLOC_WRITECOMBINED);
    SHOW(cuMemHostAlloc(&memory, (size_t)4 << 20, 64));
    SHOW(cuMemHostAlloc(NULL, (size_t)4 << 20, 0));
    SHOW(cuMemHostAlloc(&memory, (size_t)1 << 60, 0));
    return 0;
}

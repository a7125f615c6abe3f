// expect-exit: 0
// link: cuda
//
// What the driver says about pinned memory of every size and flag, at its first byte, inside, at
// its last byte and behind it.
#include "survival.h"

#include <cuda.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const size_t sizes[] = {1,      8,       4096,    5000,    60000,   65536,   65537,
                               200000, 1 << 20, 1 << 21, 3000000, 5 << 20, 16 << 20};

static void show_number(const char *name, CUpointer_attribute which, CUdeviceptr at)
{
    unsigned long long value = 0;
    CUresult result = cuPointerGetAttribute(&value, which, at);
    printf(" %s=%d:%llu", name, (int)result, result ? 0 : value);
}

static void show_offset(const char *name, CUpointer_attribute which, CUdeviceptr at,
                        CUdeviceptr base)
{
    CUdeviceptr value = 0;
    CUresult result = cuPointerGetAttribute(&value, which, at);
    printf(" %s=%d:%lld", name, (int)result, result ? 0 : (long long)(value - base));
}

static void show_at(CUdeviceptr at, CUdeviceptr base)
{
    CUcontext context = NULL, current = NULL;
    CUdeviceptr device = 0, start = 0;
    unsigned flags = 0;
    size_t bytes = 0;
    cuCtxGetCurrent(&current);
    int result = (int)cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, at);
    printf("  +%lld context=%d:%d", (long long)(at - base), result, context == current);
    show_number("type", CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at);
    show_offset("device", CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at, base);
    show_offset("host", CU_POINTER_ATTRIBUTE_HOST_POINTER, at, base);
    show_number("managed", CU_POINTER_ATTRIBUTE_IS_MANAGED, at);
    show_number("ordinal", CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at);
    show_number("memops", CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at);
    show_offset("start", CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at, base);
    show_number("size", CU_POINTER_ATTRIBUTE_RANGE_SIZE, at);
    show_number("mapped", CU_POINTER_ATTRIBUTE_MAPPED, at);
    show_number("access", CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at);
    result = (int)cuMemHostGetFlags(&flags, (void *)(uintptr_t)at);
    printf(" flags=%d:%u", result, flags);
    result = (int)cuMemHostGetDevicePointer(&device, (void *)(uintptr_t)at, 0);
    printf(" pointer=%d:%lld", result, result ? 0 : (long long)(device - base));
    result = (int)cuMemGetAddressRange(&start, &bytes, at);
    printf(" range=%d:%d:%zu\n", result, start == base, bytes);
}

static void show_runtime(const void *at)
{
    struct cudaPointerAttributes found;
    memset(&found, 0, sizeof found);
    int result = (int)cudaPointerGetAttributes(&found, at);
    printf("  runtime: %d type %d device %d same %d %d\n", result, (int)found.type, found.device,
           found.devicePointer == at, found.hostPointer == at);
}

static void show(unsigned char *at, size_t bytes)
{
    CUdeviceptr base = (uintptr_t)at;
    printf("  aligned %d\n", base % 512 == 0);
    show_at(base, base);
    show_at(base + bytes / 2, base);
    show_at(base + bytes - 1, base);
    show_runtime(at);
    memset(at, 0xff, bytes);
}

int main(void)
{
    CHECK(cudaFree(NULL));
    for (unsigned flags = 0; flags < 8; flags++)
        for (unsigned i = 0; i < COUNT(sizes); i++) {
            void *at = NULL;
            printf("cuMemHostAlloc %zu, flags %u\n", sizes[i], flags);
            CHECK(cuMemHostAlloc(&at, sizes[i], flags));
            show((unsigned char *)at, sizes[i]);
            CHECK(cuMemFreeHost(at));
        }
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        void *at = NULL;
        printf("cuMemAllocHost %zu\n", sizes[i]);
        CHECK(cuMemAllocHost(&at, sizes[i]));
        show((unsigned char *)at, sizes[i]);
        CHECK(cuMemFreeHost(at));
    }
    return 0;
}

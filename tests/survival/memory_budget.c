// expect-exit: 0
// link: cuda
// needs: sim
// sim: devices=2:device_memory=1G,256M:host_memory=512M
// options: device=1
//
// Memory of every kind runs out on a device and on the host, each time the program is told so and
// goes on, and what was freed can be had again. Multicast objects, which are made on the simulated
// GPU alone.
#include <cuda.h>
#include <stdlib.h>

#include "survival.h"

#define MB ((size_t)1 << 20)
#define G (2 * MB)

static CUcontext contexts[2];

static CUmemAllocationProp prop_of(CUdevice device)
{
    return (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
    };
}

static size_t free_mb(void)
{
    size_t free_bytes = 0, total = 0;
    CHECK(cuMemGetInfo(&free_bytes, &total));
    return free_bytes / MB;
}

static void show_device(void)
{
    const CUmemAllocationProp prop = prop_of(0);
    CUDA_ARRAY3D_DESCRIPTOR image = {
        .Width = 8192, .Height = 8192, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUdeviceptr large = 0, more = 0;
    CUmemGenericAllocationHandle handle = 0;
    CUarray array = NULL;
    CUmipmappedArray mipmaps = NULL;
    SHOW(cuMemAlloc(&large, 900 * MB));
    SHOW(cuMemAlloc(&more, 200 * MB));
    SHOW(cuMemAllocAsync(&more, 200 * MB, NULL));
    SHOW(cuMemCreate(&handle, 200 * MB, &prop, 0));
    SHOW(cuArray3DCreate(&array, &image));
    SHOW(cuMipmappedArrayCreate(&mipmaps, &image, 4));
    SHOW(free_mb());
    SHOW(cuMemFree(large));
    SHOW(cuMemCreate(&handle, 1000 * MB, &prop, 0));
    SHOW(cuMemAlloc(&more, 200 * MB));
    SHOW(cuMemRelease(handle));
    SHOW(cuMemAlloc(&more, 200 * MB));
    SHOW(cuMemFree(more));
    SHOW(free_mb());
}

static void show_host(void)
{
    void *pinned = NULL, *more = NULL, *plain = calloc(1, 300 * MB);
    SHOW(cuMemAllocHost(&pinned, 400 * MB));
    SHOW(cuMemAllocHost(&more, 200 * MB));
    SHOW(cuMemHostRegister(plain, 300 * MB, 0));
    SHOW(cuMemFreeHost(pinned));
    SHOW(cuMemHostRegister(plain, 300 * MB, 0));
    SHOW(cuMemAllocHost(&more, 300 * MB));
    SHOW(cuMemHostUnregister(plain));
    SHOW(cuMemAllocHost(&more, 300 * MB));
    SHOW(cuMemFreeHost(more));
    free(plain);
}

static void show_second(void)
{
    CUdeviceptr block = 0;
    size_t bytes = 0;
    CHECK(cuCtxSetCurrent(contexts[1]));
    SHOW(cuDeviceTotalMem(&bytes, 1));
    SHOW(bytes / MB);
    SHOW(cuMemAlloc(&block, 300 * MB));
    SHOW(cuMemAlloc(&block, 200 * MB));
    SHOW(free_mb());
    SHOW(cuMemFree(block));
    CHECK(cuCtxSetCurrent(contexts[0]));
}

static void show_multicast(void)
{
    const CUmulticastObjectProp both = {.numDevices = 2, .size = 2 * G};
    const CUmemAllocationProp prop = prop_of(1);
    CUmemGenericAllocationHandle multicast = 0, memory = 0;
    size_t granule = 0;
    CHECK(cuMemCreate(&memory, 2 * G, &prop, 0));
    SHOW(cuMulticastGetGranularity(&granule, &both, CU_MULTICAST_GRANULARITY_MINIMUM));
    SHOW(granule);
    SHOW(cuMulticastCreate(&multicast, &both));
    SHOW(cuMulticastAddDevice(multicast, 0));
    SHOW(cuMulticastBindMem(multicast, 0, memory, 0, 2 * G, 0));
    SHOW(cuMulticastAddDevice(multicast, 0));
    SHOW(cuMulticastAddDevice(multicast, 1));
    SHOW(cuMulticastBindMem(multicast, 0, memory, 0, 4 * G, 0));
    SHOW(cuMulticastBindMem(multicast, 0, memory, 0, 2 * G, 0));
    SHOW(cuMulticastUnbind(multicast, 1, 0, 2 * G));
    SHOW(cuMemRelease(multicast));
    SHOW(cuMemRelease(memory));
    SHOW(cuMulticastUnbind(multicast, 1, 0, 2 * G));
}

int main(void)
{
    CHECK(cuInit(0));
    for (CUdevice device = 1; device >= 0; device--) {
        CHECK(cuDevicePrimaryCtxRetain(&contexts[device], device));
        CHECK(cuCtxSetCurrent(contexts[device]));
    }
    show_device();
    show_host();
    show_second();
    show_multicast();
    return 0;
}

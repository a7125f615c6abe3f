/* The same for twins that speak the driver API only: they link libcuda and no libcudart.
 *
 * CHECK takes a CUresult as well as a cudaError_t. Call driver_start() first; it makes the primary
 * context of device 0 current.
 */
#ifndef SC_TESTS_HAZARD_TWIN_DRIVER_H
#define SC_TESTS_HAZARD_TWIN_DRIVER_H

#include "twin.h"

#include <cuda.h>

static TWIN_HELPER void driver_start(void)
{
    CUdevice device = 0;
    CUcontext context = NULL;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
}

static TWIN_HELPER void *driver_registered_block(size_t size_bytes, unsigned seed)
{
    void *block = separate_block(size_bytes, seed);
    CHECK(cuMemHostRegister(block, size_bytes, 0));
    return block;
}

static TWIN_HELPER void *driver_pinned_block(size_t size_bytes, unsigned seed)
{
    void *block = NULL;
    CHECK(cuMemHostAlloc(&block, size_bytes, 0));
    fill(block, size_bytes, seed);
    return block;
}

static TWIN_HELPER CUdeviceptr driver_device_block(size_t size_bytes, unsigned seed)
{
    CUdeviceptr device = 0;
    void *image = filled_block(size_bytes, seed);
    CHECK(cuMemAlloc(&device, size_bytes));
    CHECK(cuMemcpyHtoD(device, image, size_bytes));
    CHECK(cuCtxSynchronize());
    free(image);
    return device;
}

static TWIN_HELPER bool driver_device_holds(CUdeviceptr device, size_t size_bytes, unsigned seed)
{
    void *image = image_of(size_bytes);
    CHECK(cuMemcpyDtoH(image, device, size_bytes));
    return holds(image, size_bytes, seed);
}

static TWIN_HELPER CUstream driver_new_stream(void)
{
    CUstream stream = NULL;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static TWIN_HELPER CUevent driver_new_event(void)
{
    CUevent event = NULL;
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

static inline void driver_busy(CUstream stream)
{
    CHECK(cuLaunchHostFunc(stream, sleep_in_stream, NULL));
}

/* Copies that are at work when their source is freed, if not fixed: through the device and back. */
struct driver_round_trip {
    void *target, *owner; /* of the source's memory, after the free */
};

static TWIN_HELPER struct driver_round_trip driver_free_in_flight(CUstream stream)
{
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);
    void *target = driver_registered_block(SMALL, 0);

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    CHECK(cuMemcpyDtoHAsync(target, device, SMALL, stream));
    if (fixed) {
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemHostUnregister(source));
    }
    free(source);
    return (struct driver_round_trip){target, filled_block(SMALL, FOREIGN)};
}

static TWIN_HELPER bool driver_is_back(const struct driver_round_trip *trip)
{
    return holds(trip->target, SMALL, WANTED) && holds(trip->owner, SMALL, FOREIGN);
}

/* A copy of SMALL bytes, by a node without dependencies. */
static TWIN_HELPER CUgraphNode add_small(CUgraph graph, CUDA_MEMCPY3D copy)
{
    CUgraphNode node = NULL;
    CUcontext context = NULL;
    copy.WidthInBytes = SMALL;
    copy.Height = copy.Depth = 1;
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    return node;
}

static TWIN_HELPER CUgraphNode add_copy(CUgraph graph, CUdeviceptr to, const void *from)
{
    const CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = from,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = to,
    };
    return add_small(graph, copy);
}

static TWIN_HELPER CUgraphNode add_download(CUgraph graph, void *to, CUdeviceptr from)
{
    const CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = from,
        .dstMemoryType = CU_MEMORYTYPE_HOST,
        .dstHost = to,
    };
    return add_small(graph, copy);
}

/* Launches the graph and waits for it. NULL: a capture was lost, and there is none. */
static TWIN_HELPER void driver_replay(CUgraphExec exec, CUstream stream)
{
    if (!exec)
        return;
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
}

/* A node without dependencies that clears SMALL bytes. */
static TWIN_HELPER CUgraphNode add_clear(CUgraph graph, CUdeviceptr memory)
{
    CUgraphNode node = NULL;
    CUcontext context = NULL;
    const CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = memory, .elementSize = 1, .width = SMALL, .height = 1};
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    return node;
}

#endif

/*
 * The simulated runtime on the simulated driver: every shape of copy moves the right bytes, both
 * meanings of stream 0, launches by registered name, graphs, and the last error.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define OK(call) CHECK((call) == cudaSuccess)

/* The header declares one meaning of stream 0 at a time. */
extern cudaError_t cudaMemcpyAsync_ptsz(void *, const void *, size_t, enum cudaMemcpyKind,
                                        cudaStream_t);
extern cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t);
extern cudaError_t cudaMemcpy_ptds(void *, const void *, size_t, enum cudaMemcpyKind);

extern void **__cudaRegisterFatBinary(void *);
extern void __cudaRegisterFatBinaryEnd(void **);
extern void __cudaUnregisterFatBinary(void **);
extern void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *,
                                   uint3 *, dim3 *, dim3 *, int *);
extern unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void *);
extern cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);

enum { N = 4096 };
static unsigned char from[N], to[N];

static void scramble(void)
{
    for (int i = 0; i < N; i++)
        from[i] = (unsigned char)rand();
    memset(to, 0, N);
}

static void test_linear(unsigned char *device)
{
    scramble();
    OK(cudaMemcpy(device, from, N, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(to, device, N, cudaMemcpyDefault));
    CHECK(memcmp(from, to, N) == 0);
    scramble();
    OK(cudaMemcpyAsync(device, from, N, cudaMemcpyDefault, 0));
    OK(cudaMemcpyAsync(device + N, device, N, cudaMemcpyDeviceToDevice, 0));
    OK(cudaMemcpyAsync(to, device + N, N, cudaMemcpyDeviceToHost, 0));
    CHECK(memcmp(from, to, N) == 0);
    scramble();
    OK(cudaMemcpyPeerAsync(device, 0, from, 0, 0, 0));
    OK(cudaMemcpyAsync_ptsz(device, from, N, cudaMemcpyHostToDevice, 0));
    OK(cudaStreamSynchronize_ptsz(0));
    OK(cudaMemcpy_ptds(to, device, N, cudaMemcpyDeviceToHost));
    CHECK(memcmp(from, to, N) == 0);
    OK(cudaMemset(device, 0x5a, N));
    OK(cudaMemsetAsync(device, 0xa5, N / 2, 0));
    OK(cudaMemcpy(to, device, N, cudaMemcpyDeviceToHost));
    CHECK(to[0] == 0xa5 && to[N / 2 - 1] == 0xa5 && to[N / 2] == 0x5a && to[N - 1] == 0x5a);
}

static void test_two_dimensions(void)
{
    void *device;
    size_t pitch;
    scramble();
    OK(cudaMallocPitch(&device, &pitch, 50, 20));
    CHECK(pitch >= 50);
    OK(cudaMemcpy2D(device, pitch, from, 60, 50, 20, cudaMemcpyHostToDevice));
    OK(cudaMemset2D(device, pitch, 0xee, 10, 20));
    OK(cudaMemcpy2DAsync(to, 55, device, pitch, 50, 20, cudaMemcpyDeviceToHost, 0));
    OK(cudaDeviceSynchronize());
    for (int row = 0; row < 20; row++) {
        CHECK(to[row * 55] == 0xee && to[row * 55 + 9] == 0xee);
        CHECK(memcmp(to + row * 55 + 10, from + row * 60 + 10, 40) == 0);
        CHECK(to[row * 55 + 50] == 0);
    }
    CHECK(cudaMemcpy2D(device, pitch, from, 40, 50, 20, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidPitchValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidPitchValue);
    OK(cudaFree(device));
}

static void test_three_dimensions(void)
{
    struct cudaPitchedPtr device;
    struct cudaExtent extent = {16, 4, 8};
    scramble();
    OK(cudaMalloc3D(&device, extent));
    struct cudaMemcpy3DParms up = {.srcPtr = {from, 16, 16, 4},
                                   .dstPtr = device,
                                   .extent = extent,
                                   .kind = cudaMemcpyHostToDevice};
    OK(cudaMemcpy3D(&up));
    struct cudaMemcpy3DParms down = {.srcPos = {0, 1, 2},
                                     .srcPtr = device,
                                     .dstPtr = {to, 16, 16, 4},
                                     .extent = {16, 2, 3},
                                     .kind = cudaMemcpyDeviceToHost};
    OK(cudaMemcpy3DAsync(&down, 0));
    OK(cudaDeviceSynchronize());
    for (int z = 0; z < 3; z++)
        CHECK(memcmp(to + z * 64, from + (z + 2) * 64 + 16, 32) == 0);
    OK(cudaMemset3D(device, 0x33, extent));
    OK(cudaFree(device.ptr));
}

static void test_batch(unsigned char *device)
{
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    scramble();
    void *dsts[] = {device, device + 100};
    const void *srcs[] = {from + 100, from};
    size_t sizes[] = {100, 100}, first = 0;
    struct cudaMemcpyAttributes attributes = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    OK(cudaMemcpyBatchAsync(dsts, srcs, sizes, 2, &attributes, &first, 1, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(to, device, 200, cudaMemcpyDeviceToHost));
    CHECK(memcmp(to, from + 100, 100) == 0 && memcmp(to + 100, from, 100) == 0);
    OK(cudaStreamDestroy(stream));
}

static void test_memory_kinds(unsigned char *device)
{
    struct cudaPointerAttributes about;
    void *pinned, *managed, *pooled, *none = from;
    OK(cudaMallocHost(&pinned, N));
    OK(cudaPointerGetAttributes(&about, pinned));
    CHECK(about.type == cudaMemoryTypeHost && about.hostPointer == pinned);
    OK(cudaPointerGetAttributes(&about, device + 1));
    CHECK(about.type == cudaMemoryTypeDevice && about.devicePointer == device + 1);
    OK(cudaMallocManaged(&managed, N, cudaMemAttachGlobal));
    OK(cudaPointerGetAttributes(&about, managed));
    CHECK(about.type == cudaMemoryTypeManaged);
    OK(cudaPointerGetAttributes(&about, from));
    CHECK(about.type == cudaMemoryTypeUnregistered);
    OK(cudaHostRegister(from, N, cudaHostRegisterDefault));
    CHECK(cudaHostRegister(from, N, cudaHostRegisterDefault) ==
          cudaErrorHostMemoryAlreadyRegistered);
    OK(cudaHostUnregister(from));
    CHECK(cudaHostUnregister(from) == cudaErrorHostMemoryNotRegistered);
    OK(cudaMallocAsync(&pooled, N, 0));
    OK(cudaFreeAsync(pooled, 0));
    OK(cudaMalloc(&none, 0));
    CHECK(none == NULL);
    OK(cudaFree(managed));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(NULL));
    OK(cudaFreeHost(NULL));
    cudaGetLastError();
}

static void test_last_error(void)
{
    CHECK(cudaMemcpy(to, from, 1, (enum cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
    OK(cudaDeviceSynchronize());
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidMemcpyDirection);
    CHECK(cudaGetLastError() == cudaErrorInvalidMemcpyDirection);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(strcmp(cudaGetErrorName(cudaErrorStreamCaptureImplicit),
                 "cudaErrorStreamCaptureImplicit") == 0);
    CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

static void test_launch(void)
{
    static const struct {
        int magic, version;
        const void *data;
        void *more;
    } image = {0x466243b1, 1,
               ".version 7.5\n.target sm_75\n.address_size 64\n"
               ".visible .entry test_kernel() { ret; }\n",
               NULL};
    static const char host_side;
    void **handle = __cudaRegisterFatBinary((void *)(size_t)&image);
    char name[] = "test_kernel";
    __cudaRegisterFunction(handle, &host_side, name, name, -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);

    dim3 grid = {2, 3, 4}, block = {32, 1, 1}, grid_out, block_out;
    size_t shared_out;
    cudaStream_t stream_out;
    CHECK(__cudaPushCallConfiguration(grid, block, 7, NULL) == 0);
    OK(__cudaPopCallConfiguration(&grid_out, &block_out, &shared_out, &stream_out));
    CHECK(grid_out.z == 4 && block_out.x == 32 && shared_out == 7 && !stream_out);
    OK(cudaLaunchKernel(&host_side, grid, block, NULL, 0, 0));
    OK(cudaDeviceSynchronize());
    CHECK(cudaLaunchKernel(from, grid, block, NULL, 0, 0) == cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    __cudaUnregisterFatBinary(handle);
}

static void CUDART_CB count(void *counter)
{
    ++*(int *)counter;
}

static void test_graph(unsigned char *device)
{
    cudaGraph_t graph, copy;
    cudaGraphNode_t upload, call;
    cudaGraphExec_t exec;
    struct cudaMemcpy3DParms back;
    size_t nodes = 0;
    int calls = 0;
    struct cudaHostNodeParams host = {count, &calls};
    scramble();
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNode1D(&upload, graph, NULL, 0, device, from, N, cudaMemcpyHostToDevice));
    OK(cudaGraphAddHostNode(&call, graph, &upload, 1, &host));
    OK(cudaGraphMemcpyNodeGetParams(upload, &back));
    CHECK(back.srcPtr.ptr == from && back.dstPtr.ptr == device && back.extent.width == N);
    OK(cudaGraphClone(&copy, graph));
    OK(cudaGraphGetNodes(copy, NULL, &nodes));
    CHECK(nodes == 2);
    OK(cudaGraphInstantiate(&exec, copy, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(to, device, N, cudaMemcpyDeviceToHost));
    CHECK(calls == 2 && memcmp(from, to, N) == 0);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(copy));
    OK(cudaGraphDestroy(graph));
}

/* The general parameter block: added, changed in the graph, changed and disabled in the exec. */
static void test_general_nodes(unsigned char *device)
{
    struct cudaGraphNodeParams fill = {.type = cudaGraphNodeTypeMemset};
    struct cudaGraphNodeParams child = {.type = cudaGraphNodeTypeGraph};
    cudaGraphNode_t fill_node, child_node, inner;
    cudaGraph_t graph, body;
    cudaGraphExec_t exec;
    unsigned enabled = 0;
    size_t count = 1;
    fill.memset = (struct cudaMemsetParamsV2){
        .dst = device, .value = 1, .elementSize = 1, .width = N, .height = 1};
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphCreate(&body, 0));
    OK(cudaGraphAddMemcpyNode1D(&inner, body, NULL, 0, to, device, N, cudaMemcpyDeviceToHost));
    child.graph.graph = body;
    OK(cudaGraphAddNode(&fill_node, graph, NULL, NULL, 0, &fill));
    OK(cudaGraphAddNode(&child_node, graph, &fill_node, NULL, 1, &child));
    CHECK(child.graph.graph == body); /* and the node owns a clone */
    OK(cudaGraphNodeGetDependentNodes(fill_node, &inner, NULL, &count));
    CHECK(count == 1 && inner == child_node);
    fill.memset.value = 2;
    OK(cudaGraphNodeSetParams(fill_node, &fill));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    CHECK(to[N - 1] == 2);
    fill.memset.value = 3;
    OK(cudaGraphExecNodeSetParams(exec, fill_node, &fill));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    CHECK(to[N - 1] == 3);
    OK(cudaMemset(device, 4, N));
    OK(cudaGraphNodeSetEnabled(exec, fill_node, 0));
    OK(cudaGraphNodeGetEnabled(exec, fill_node, &enabled));
    CHECK(!enabled);
    OK(cudaGraphExecChildGraphNodeSetParams(exec, child_node, body));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    CHECK(to[N - 1] == 4);
    OK(cudaGraphRemoveDependencies(graph, &fill_node, &child_node, NULL, 1));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(body));
}

static void test_event_nodes(void)
{
    cudaEvent_t first, second, got = NULL;
    cudaGraphNode_t record;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaEventCreate(&first));
    OK(cudaEventCreate(&second));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEventRecordNode(&record, graph, NULL, 0, first));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphExecEventRecordNodeSetEvent(exec, record, second));
    OK(cudaGraphEventRecordNodeGetEvent(record, &got));
    CHECK(got == first);
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaEventSynchronize(second));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaEventDestroy(first));
    OK(cudaEventDestroy(second));
}

static void CUDART_CB set_flag(void *flag)
{
    atomic_store((atomic_int *)flag, 1);
}

static void test_user_object(void)
{
    cudaUserObject_t object;
    cudaGraph_t graph;
    atomic_int ended = 0;
    OK(cudaUserObjectCreate(&object, &ended, set_flag, 1, cudaUserObjectNoDestructorSync));
    OK(cudaUserObjectRetain(object, 1));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphRetainUserObject(graph, object, 2, cudaGraphUserObjectMove));
    OK(cudaGraphReleaseUserObject(graph, object, 1));
    usleep(5000);
    CHECK(!atomic_load(&ended));
    OK(cudaGraphDestroy(graph));
    for (int i = 0; i < 60000 && !atomic_load(&ended); i++)
        usleep(1000);
    CHECK(atomic_load(&ended));
}

static void test_device(void)
{
    struct cudaDeviceProp properties;
    int version = 0, devices = 0, device = -1;
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult found;
    OK(cudaGetDeviceCount(&devices));
    OK(cudaGetDevice(&device));
    CHECK(devices >= 1 && device == 0);
    OK(cudaGetDeviceProperties(&properties, 0));
    CHECK(properties.name[0] && properties.totalGlobalMem > 0 && properties.warpSize == 32);
    OK(cudaRuntimeGetVersion(&version));
    CHECK(version == CUDART_VERSION);
    OK(cudaGetDriverEntryPointByVersion("cuMemcpyHtoDAsync", &function, 13000, cudaEnableDefault,
                                        &found));
    CHECK(function && found == cudaDriverEntryPointSuccess);
    OK(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &function, 13000, cudaEnableDefault,
                                        &found));
    CHECK(found == cudaDriverEntryPointSymbolNotFound);
}

/* The next call that needs a context has a new one, on every thread that had the one before. */
static void test_reset(void)
{
    void *device = NULL;
    cudaStream_t stream;
    OK(cudaDeviceReset());
    OK(cudaMalloc(&device, N));
    OK(cudaStreamCreate(&stream));
    scramble();
    OK(cudaMemcpyAsync(device, from, N, cudaMemcpyHostToDevice, stream));
    OK(cudaMemcpyAsync(to, device, N, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(memcmp(from, to, N) == 0);
    OK(cudaDeviceReset());
    OK(cudaDeviceReset());
    OK(cudaGetLastError());
}

int main(void)
{
    unsigned char *device;
    OK(cudaMalloc((void **)&device, 2 * N));
    test_device();
    test_linear(device);
    test_two_dimensions();
    test_three_dimensions();
    test_batch(device);
    test_memory_kinds(device);
    test_last_error();
    test_graph(device);
    test_general_nodes(device);
    test_event_nodes();
    test_user_object();
    test_launch();
    OK(cudaFree(device));
    test_reset();
    puts("ok");
    return 0;
}

/* What is announced of contexts and streams. */
#include "ear.h"

#include <dlfcn.h>

/* ---- Q11: contexts and streams ---- */

void q11_early(void)
{
    say("Q11 subscribed before cuInit:");
    ear.tell = true;
    if (!listen_to_all())
        return;
    TRY(cuInit(0));
    TRY(cuDeviceGet(&device, 0));
    TRY(cuDevicePrimaryCtxRetain(&primary, device));
    name_as(primary, "PRIMARY");
    TRY(cuCtxSetCurrent(primary));
    TRY(cuMemAlloc(&dev, 64 * KB));
    TRY(cuMemsetD8Async(dev, 0, 64, CU_STREAM_PER_THREAD));
    TRY(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    ear.tell = false;
    end_line();
}

void q11_contexts(void)
{
    CUcontext context = NULL;
    CUstream plain = NULL, left = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUmodule loaded = NULL;

    if (!begin())
        return;
    LINE("cuCtxCreate", {
        TRY(make_context(&context));
        name_as(context, "MINE");
    });
    LINE("two streams made, one destroyed", {
        TRY(cuStreamCreate(&plain, CU_STREAM_NON_BLOCKING));
        TRY(cuStreamCreateWithPriority(&left, 0, -1));
        name_as(plain, "plain");
        name_as(left, "left");
        TRY(cuStreamDestroy(plain));
    });
    LINE("module loaded", TRY(cuModuleLoadData(&loaded, kernels_ptx)));
    LINE("graph and exec", {
        TRY(cuGraphCreate(&graph, 0));
        CUgraphNode node = NULL;
        CUDA_MEMSET_NODE_PARAMS fill = {.dst = dev, .elementSize = 1, .width = 64, .height = 1};
        TRY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
        TRY(cuGraphInstantiate(&exec, graph, 0));
        name_as(exec, "execofmine");
    });
    keep_busy(left);
    ear.watch_work = true;
    LINE("cuCtxDestroy with a busy stream, a module and an exec left", TRY(cuCtxDestroy(context)));
    ear.watch_work = false;
    TRY(cuCtxSetCurrent(primary));
    LINE("its exec destroyed afterwards", TRY(cuGraphExecDestroy(exec)));
    LINE("its graph destroyed afterwards", TRY(cuGraphDestroy(graph)));
    LINE("module unloaded", TRY(cuModuleUnload(module)));
}

void q11_stream_busy(void)
{
    CUstream busy = NULL;
    CUstream again = NULL;

    if (!begin())
        return;
    TRY(cuStreamCreate(&busy, CU_STREAM_NON_BLOCKING));
    name_as(busy, "busy");
    keep_busy(busy);
    ear.watch_work = true;
    LINE("busy stream destroyed", TRY(cuStreamDestroy(busy)));
    ear.watch_work = false;
    LINE("stream made next", TRY(cuStreamCreate(&again, CU_STREAM_NON_BLOCKING)));
    sleep_ms(50);
    LINE("work on the per-thread stream", {
        TRY(cuMemsetD8Async(dev, 0, 64, CU_STREAM_PER_THREAD));
        TRY(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    });
    ear.ask_inside = true;
    LINE("the driver asked inside", {
        TRY(cuStreamCreate(&busy, 0));
        TRY(cuStreamDestroy(busy));
    });
}

void q11_primary(void)
{
    CUstream mine = NULL;

    if (!begin())
        return;
    TRY(cuStreamCreate(&mine, 0));
    name_as(mine, "mine");
    LINE("cuDevicePrimaryCtxReset", TRY(cuDevicePrimaryCtxReset(device)));
    LINE("cuDevicePrimaryCtxRetain", TRY(cuDevicePrimaryCtxRetain(&primary, device)));
    LINE("stream made", {
        TRY(cuCtxSetCurrent(primary));
        TRY(cuStreamCreate(&stream, 0));
    });
    LINE("cuDevicePrimaryCtxRelease, the last", {
        TRY(cuDevicePrimaryCtxRelease(device));
        TRY(cuDevicePrimaryCtxRelease(device));
    });
}

void q11_runtime(void)
{
    void *runtime = NULL;

    if (!begin())
        return;
    runtime = open_runtime();
    say("Q11 runtime:%s", runtime ? "" : " none");
    end_line();
    if (!runtime)
        return;
    cudaError_t (*make)(cudaStream_t *) = dlsym(runtime, "cudaStreamCreate");
    cudaError_t (*reset)(void) = dlsym(runtime, "cudaDeviceReset");
    cudaError_t (*wait)(void) = dlsym(runtime, "cudaDeviceSynchronize");
    cudaStream_t mine = NULL;
    LINE("cudaStreamCreate", make(&mine));
    LINE("cudaDeviceSynchronize", wait());
    LINE("cudaDeviceReset", reset());
    LINE("cudaStreamCreate after it", make(&mine));
}

void q11_green(void)
{
    CUdevResource resource, part;
    CUdevResourceDesc description;
    CUgreenCtx green = NULL;
    CUstream mine = NULL;
    unsigned groups = 1;

    if (!begin())
        return;
    LINE("green context", {
        TRY(cuDeviceGetDevResource(device, &resource, CU_DEV_RESOURCE_TYPE_SM));
        TRY(cuDevSmResourceSplitByCount(&part, &groups, &resource, NULL, 0, 8));
        TRY(cuDevResourceGenerateDesc(&description, &part, 1));
        TRY(cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
        TRY(cuGreenCtxStreamCreate(&mine, green, CU_STREAM_NON_BLOCKING, 0));
        name_as(mine, "greenstream");
    });
    keep_busy(mine);
    ear.watch_work = true;
    LINE("green context destroyed with a busy stream", TRY(cuGreenCtxDestroy(green)));
    ear.watch_work = false;
    sleep_ms(50);
}

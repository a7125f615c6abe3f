/* What is announced of calls that wait, or might. */
#include "ear.h"

#include <stdlib.h>

/* ---- Q12: synchronisation ---- */

static CUstream blocking;
static CUevent event;
static unsigned char *pageable;
static CUgraphExec writer; /* of pageable memory */

/* One wait behind 30 ms of work on a stream. */
#define WAIT(title, where, ...)                                                                    \
    do {                                                                                           \
        keep_busy(where);                                                                          \
        TRY(cuEventRecord(event, where));                                                          \
        uint64_t start = now_ns();                                                                 \
        say("Q%s %s:", asked(), (title));                                                          \
        ear.tell = ear.watch_work = true;                                                          \
        __VA_ARGS__;                                                                               \
        ear.tell = ear.watch_work = false;                                                         \
        say(" | %.0f ms, %s", ms_since(start),                                                     \
            atomic_load(&ear.work_is_done) ? "waited" : "did not wait");                           \
        end_line();                                                                                \
        TRY(cuCtxSynchronize());                                                                   \
    } while (0)

static void set_up_waits(void)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = dev,
        .dstMemoryType = CU_MEMORYTYPE_HOST,
        .WidthInBytes = 64,
        .Height = 1,
        .Depth = 1,
    };

    pageable = calloc(1, 64 * MB);
    copy.dstHost = pageable;
    TRY(cuStreamCreate(&blocking, 0));
    name_as(blocking, "BLOCKING");
    TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    TRY(cuGraphCreate(&graph, 0));
    TRY(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, primary));
    TRY(cuGraphInstantiate(&writer, graph, 0));
}

void q12_plain(void)
{
    CUevent sleeper = NULL;

    if (!begin())
        return;
    set_up_waits();
    TRY(cuEventCreate(&sleeper, CU_EVENT_BLOCKING_SYNC));
    WAIT("cuStreamSynchronize", stream, TRY(cuStreamSynchronize(stream)));
    WAIT("cuStreamSynchronize of a blocking stream", blocking, TRY(cuStreamSynchronize(blocking)));
    WAIT("cuStreamSynchronize of the legacy stream", blocking, TRY(cuStreamSynchronize(LEGACY)));
    WAIT("cuStreamSynchronize of the per-thread stream", CU_STREAM_PER_THREAD,
         TRY(cuStreamSynchronize(CU_STREAM_PER_THREAD)));
    WAIT("cuCtxSynchronize", stream, TRY(cuCtxSynchronize()));
    WAIT("cuEventSynchronize", stream, TRY(cuEventSynchronize(event)));
    WAIT("cuEventSynchronize, blocking sync", stream, {
        TRY(cuEventRecord(sleeper, stream));
        TRY(cuEventSynchronize(sleeper));
    });
    WAIT("cuStreamQuery and cuEventQuery, busy", stream, {
        cuStreamQuery(stream);
        cuEventQuery(event);
    });
    WAIT("cuStreamQuery and cuEventQuery, done", stream, {
        sleep_ms(50);
        cuStreamQuery(stream);
        cuEventQuery(event);
    });
    WAIT("cuStreamSynchronize of an idle stream beside", stream,
         TRY(cuStreamSynchronize(blocking)));
    ear.ask_inside = true;
    WAIT("cuStreamSynchronize, the driver asked inside", stream, TRY(cuStreamSynchronize(stream)));
    WAIT("cuCtxSynchronize, the driver asked inside", stream, TRY(cuCtxSynchronize()));
}

void q12_copies(void)
{
    CUdeviceptr big = 0;

    if (!begin())
        return;
    set_up_waits();
    TRY(cuMemAlloc(&big, 64 * MB));
    WAIT("cuMemcpyHtoD pinned", blocking, TRY(cuMemcpyHtoD(dev, pinned, 4 * KB)));
    WAIT("cuMemcpyHtoD pageable", blocking, TRY(cuMemcpyHtoD(dev, pageable, 4 * KB)));
    WAIT("cuMemcpyHtoD pageable 64 MB", blocking, TRY(cuMemcpyHtoD(big, pageable, 64 * MB)));
    WAIT("cuMemcpyDtoH pinned", blocking, TRY(cuMemcpyDtoH(pinned, dev, 4 * KB)));
    WAIT("cuMemcpyDtoH pageable", blocking, TRY(cuMemcpyDtoH(pageable, dev, 4 * KB)));
    WAIT("cuMemcpyDtoD", blocking, TRY(cuMemcpyDtoD(dev, dev + 32 * KB, 4 * KB)));
    WAIT("cuMemsetD8", blocking, TRY(cuMemsetD8(dev, 0, 4 * KB)));
    WAIT("cuMemsetD8 of pinned memory", blocking, TRY(cuMemsetD8(uva(pinned), 0, 4 * KB)));
    WAIT("cuMemcpyHtoDAsync pinned", stream, TRY(cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream)));
    WAIT("cuMemcpyHtoDAsync pageable 64 MB", stream,
         TRY(cuMemcpyHtoDAsync(big, pageable, 64 * MB, stream)));
    WAIT("cuMemcpyDtoHAsync pageable", stream,
         TRY(cuMemcpyDtoHAsync(pageable, dev, 4 * KB, stream)));
    WAIT("cuGraphLaunch of a pageable writer", stream, TRY(cuGraphLaunch(writer, stream)));
    WAIT("cuGraphExecDestroy beside", stream, TRY(cuGraphExecDestroy(writer)));
}

void q12_frees(void)
{
    CUdeviceptr more = 0;
    void *host = NULL, *registered = aligned_alloc(4 * KB, 64 * KB);
    CUmemoryPool pool = NULL;
    CUmodule extra = NULL;
    CUlibrary library = NULL;
    CUstream doomed = NULL;
    CUarray array = NULL;
    CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 64, .Height = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};

    if (!begin())
        return;
    set_up_waits();
    TRY(cuMemAlloc(&more, 64 * KB));
    TRY(cuMemAllocHost(&host, 64 * KB));
    TRY(cuMemHostRegister(registered, 64 * KB, 0));
    TRY(cuStreamCreate(&doomed, CU_STREAM_NON_BLOCKING));
    TRY(cuArrayCreate(&array, &shape));
    TRY(cuDeviceGetDefaultMemPool(&pool, device));
    WAIT("cuMemFree", stream, TRY(cuMemFree(more)));
    WAIT("cuMemFreeHost", stream, TRY(cuMemFreeHost(host)));
    WAIT("cuMemHostUnregister", stream, TRY(cuMemHostUnregister(registered)));
    WAIT("cuMemHostRegister", stream, TRY(cuMemHostRegister(registered, 64 * KB, 0)));
    WAIT("cuMemAllocHost", stream, TRY(cuMemAllocHost(&host, 64 * KB)));
    WAIT("cuMemAlloc", stream, TRY(cuMemAlloc(&more, 64 * MB)));
    WAIT("cuModuleLoadData", stream, TRY(cuModuleLoadData(&extra, kernels_ptx)));
    WAIT("cuModuleUnload", stream, TRY(cuModuleUnload(extra)));
    WAIT("cuLibraryLoadData", stream,
         TRY(cuLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0)));
    WAIT("cuLibraryUnload", stream, TRY(cuLibraryUnload(library)));
    WAIT("cuStreamDestroy beside", stream, TRY(cuStreamDestroy(doomed)));
    WAIT("cuEventDestroy", stream, {
        TRY(cuEventDestroy(event));
        ear.tell = false;
        TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    });
    WAIT("cuArrayDestroy", stream, TRY(cuArrayDestroy(array)));
    WAIT("cuMemPoolTrimTo", stream, TRY(cuMemPoolTrimTo(pool, 0)));
    WAIT("cuCtxSetLimit of the stack", stream, TRY(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 64 * KB)));
    WAIT("cuCtxSetLimit of the heap", stream,
         TRY(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 * MB)));
}

void q12_contexts(void)
{
    CUcontext context = NULL;
    CUstream other = NULL;

    if (!begin())
        return;
    set_up_waits();
    TRY(make_context(&context));
    name_as(context, "MINE");
    TRY(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    name_as(other, "other");
    keep_busy(other);
    say("Q12 cuCtxDestroy with a busy stream:");
    uint64_t start = now_ns();
    ear.tell = ear.watch_work = true;
    TRY(cuCtxDestroy(context));
    ear.tell = ear.watch_work = false;
    say(" | %.0f ms", ms_since(start));
    end_line();
    TRY(cuCtxSetCurrent(primary));
    keep_busy(stream);
    say("Q12 cuDevicePrimaryCtxReset with a busy stream:");
    start = now_ns();
    ear.tell = ear.watch_work = true;
    TRY(cuDevicePrimaryCtxReset(device));
    ear.tell = ear.watch_work = false;
    say(" | %.0f ms", ms_since(start));
    end_line();
}

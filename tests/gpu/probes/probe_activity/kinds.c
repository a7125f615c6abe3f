/* Which records there are: of copies, graphs, and what was issued before. */
#include "records.h"

#include "../../asking_calls.h"

#include <dlfcn.h>

/* ---- Q1: which records there are ---- */

static CUresult copy_2d(void)
{
    CUDA_MEMCPY2D shape = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = pinned,
                           .srcPitch = 256,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = dev,
                           .dstPitch = 512,
                           .WidthInBytes = 128,
                           .Height = 10};
    return TRY(cuMemcpy2DAsync(&shape, stream));
}

static CUresult copy_3d(void)
{
    CUDA_MEMCPY3D shape = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = pinned,
                           .srcPitch = 256,
                           .srcHeight = 16,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = dev,
                           .dstPitch = 512,
                           .dstHeight = 16,
                           .WidthInBytes = 128,
                           .Height = 10,
                           .Depth = 3};
    return TRY(cuMemcpy3DAsync(&shape, stream));
}

static CUresult copy_batch(void)
{
    CUdeviceptr to[3] = {dev, dev + 64 * KB, dev + 128 * KB};
    CUdeviceptr from[3] = {uva(pinned), uva(pinned) + 64 * KB, uva(pinned) + 128 * KB};
    size_t sizes[3] = {1 * KB, 2 * KB, 4 * KB}, index[1] = {0};
    CUmemcpyAttributes how = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    return TRY(cuMemcpyBatchAsync(to, from, sizes, 3, &how, index, 1, stream));
}

static CUresult copy_per_thread(void)
{
    TRY(cuMemcpyHtoDAsync(dev, pinned, 4 * KB, CU_STREAM_PER_THREAD));
    return TRY(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

static CUresult runtime_copy(void)
{
    static cudaError_t (*call)(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t);
    void *runtime = open_runtime();

    if (!runtime) {
        say(" (no runtime)");
        return CUDA_ERROR_NOT_FOUND;
    }
    *(void **)&call = dlsym(runtime, "cudaMemcpyAsync");
    call((void *)(uintptr_t)dev, pinned, 4 * KB, cudaMemcpyHostToDevice, stream);
    return CUDA_SUCCESS;
}

#define COPIES(X)                                                                                  \
    X(small, "H2D 4K", NONE, copy_small())                                                         \
    X(back, "D2H 8K", NONE, copy_back())                                                           \
    X(any, "cuMemcpyAsync", NONE, TRY(cuMemcpyAsync(dev, uva(pinned), 4 * KB, stream)))            \
    X(flat, "2D", NONE, copy_2d())                                                                 \
    X(deep, "3D", NONE, copy_3d())                                                                 \
    X(batch, "batch of 3", NONE, copy_batch())                                                     \
    X(pageable, "pageable 16K", NONE, TRY(cuMemcpyHtoDAsync(dev, pageable, 16 * KB, stream)))      \
    X(large, "pageable 512K", NONE, TRY(cuMemcpyHtoDAsync(dev, pageable, 512 * KB, stream)))       \
    X(to_pageable, "to pageable 16K", NONE,                                                        \
      TRY(cuMemcpyDtoHAsync(pageable, dev, 16 * KB, stream)))                                      \
    X(synchronous, "synchronous 32K", NONE, TRY(cuMemcpyHtoD(dev, pinned, 32 * KB)))               \
    X(per_thread, "per-thread stream", NONE, copy_per_thread())                                    \
    X(hosts, "host to host", NONE,                                                                 \
      TRY(cuMemcpyAsync(uva(pinned) + MB, uva(pinned), 4 * KB, stream)))                           \
    X(set, "memset", NONE, set_device())                                                           \
    X(set_host, "memset of pinned", NONE, TRY(cuMemsetD8Async(uva(pinned), 1, 4 * KB, stream)))    \
    X(runtime, "cudaMemcpyAsync", NONE, runtime_copy())
COPIES(DEFINE_CALL)
static const struct call copies[] = {COPIES(LIST_CALL)};

static void each_copy(const char *with)
{
    say("Q1 %s", with);
    end_line();
    us.tell = true;
    for (size_t i = 0; i < COUNT(copies); i++) {
        say("Q1  %s:", copies[i].name);
        origin_ns = cupti_now();
        copies[i].call();
        TRY(cuStreamSynchronize(stream));
        TRY_CUPTI(cupti.flush(0));
        end_line();
    }
    us.tell = false;
}

void q1(void)
{
    say("Q1 enabling:");
    if (!begin())
        return;
    size_t free_before, free_after, total;
    cuMemGetInfo(&free_before, &total);
    TRY_CUPTI(cupti.reg(us_request, us_complete));
    static const CUpti_ActivityKind kinds[] = {
        CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMCPY2};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        uint64_t start = now_ns();
        CUptiResult rc = cupti.enable(kinds[i]);
        say(" kind %d CUPTI %d in %.2f ms,", (int)kinds[i], (int)rc, ms_since(start));
    }
    cuMemGetInfo(&free_after, &total);
    say(" device memory %+ld KB, threads:", ((long)free_before - (long)free_after) / 1024);
    list_threads();
    end_line();
    each_copy("without a subscriber");
    listen_to_copies();
    ear_tells = true;
    each_copy("with one: the callback's id, then the record's");
    ear_tells = false;
    cuMemGetInfo(&free_after, &total);
    say("Q1 device memory in the end %+ld KB", ((long)free_before - (long)free_after) / 1024);
    end_line();
}

/* ---- Q2: graphs ---- */

static CUgraphExec make_graph(bool tell)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode nodes[8];
    size_t count = COUNT(nodes);

    TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    copy_small();
    TRY(launch(empty_kernel, stream));
    copy_back();
    set_device();
    TRY(cuStreamEndCapture(stream, &graph));
    TRY(cuGraphGetNodes(graph, nodes, &count));
    for (size_t i = 0; tell && i < count; i++) {
        uint64_t id = 0;
        CUptiResult rc = cupti.node_id(nodes[i], &id);
        say(" node %zu is %lx (CUPTI %d)", i, (unsigned long)id, (int)rc);
    }
    TRY(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void launch_twice(CUgraphExec exec)
{
    for (int i = 0; i < 2; i++) {
        origin_ns = cupti_now();
        TRY(cuGraphLaunch(exec, stream));
        TRY(cuStreamSynchronize(stream));
        TRY_CUPTI(cupti.flush(0));
    }
}

void q2(void)
{
    say("Q2 a graph:");
    if (!begin())
        return;
    CUgraphExec early = make_graph(true);
    listen_to_copies();
    start_us();
    end_line();
    us.tell = ear_tells = true;
    say("Q2 launches of an exec made before enabling:");
    launch_twice(early);
    end_line();
    say("Q2 launches of an exec made after:");
    CUgraphExec exec = make_graph(true);
    launch_twice(exec);
    end_line();
    say("Q2 with GRAPH_TRACE as well:");
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
    launch_twice(exec);
    launch_twice(early);
    exec = make_graph(false);
    launch_twice(exec);
    end_line();
}

/* ---- Q3: what was issued before ---- */

void q3(void)
{
    say("Q3 a copy issued before enabling, while its stream is held:");
    if (!begin())
        return;
    hold_stream(stream, 200);
    copy_small();
    uint64_t start = now_ns();
    us.tell = true;
    start_us();
    say(" enabling took %.1f ms", ms_since(start));
    start = now_ns();
    copy_back();
    say(", the next copy's call %.1f ms", ms_since(start));
    TRY(cuStreamSynchronize(stream));
    origin_ns = cupti_now();
    TRY_CUPTI(cupti.flush(0));
    end_line();
    say("Q3 enabling during a global capture:");
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMCPY));
    CUgraph graph = NULL;
    TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY));
    copy_small();
    TRY_CUPTI(cupti.flush(0));
    TRY_CUPTI(cupti.flush(1));
    say(" end of the capture %d", (int)cuStreamEndCapture(stream, &graph));
    end_line();
}

/* Registered and enabled before cuInit, and in a context that comes later, in a capture. */
void early(void)
{
    say("Q3 enabled before cuInit:");
    if (!load())
        return;
    start_us();
    if (set_up() != CUDA_SUCCESS)
        return;
    us.tell = true;
    origin_ns = cupti_now();
    copy_small();
    TRY(cuStreamSynchronize(stream));
    TRY_CUPTI(cupti.flush(0));
    end_line();
}

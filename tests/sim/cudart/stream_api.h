/*
 * Every runtime function that depends on what stream 0 means. Compiled twice, by legacy.c and
 * per_thread.c; the toolkit's header renames the functions for the second.
 */
#include "runtime.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define ENTER_SZ(name, legacy, per_thread, ...) ENTER(name##_ptsz_##per_thread, __VA_ARGS__)
#define ENTER_DS(name, legacy, per_thread, ...) ENTER(name##_ptds_##per_thread, __VA_ARGS__)
#else
#define ENTER_SZ(name, legacy, per_thread, ...) ENTER(name##_##legacy, __VA_ARGS__)
#define ENTER_DS(name, legacy, per_thread, ...) ENTER(name##_##legacy, __VA_ARGS__)
#endif

/* Synchronous copies. */

static CUresult copy_now(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return CALL(cuMemcpyHtoD, rt_dptr(dst), src, count);
    case cudaMemcpyDeviceToHost:
        return CALL(cuMemcpyDtoH, dst, rt_dptr(src), count);
    case cudaMemcpyDeviceToDevice:
        return CALL(cuMemcpyDtoD, rt_dptr(dst), rt_dptr(src), count);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return CALL(cuMemcpy, rt_dptr(dst), rt_dptr(src), count);
    }
    return (CUresult)cudaErrorInvalidMemcpyDirection;
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    ENTER_DS(cudaMemcpy, v3020, v7000, dst, src, count, kind);
    LEAVE(copy_now(dst, src, count, kind));
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind)
{
    ENTER_DS(cudaMemcpy2D, v3020, v7000, dst, dpitch, src, spitch, width, height, kind);
    CUDA_MEMCPY2D copy;
    CUresult result = rt_copy2d(&copy, dst, dpitch, src, spitch, width, height, kind);
    LEAVE(result == CUDA_SUCCESS ? CALL(cuMemcpy2DUnaligned, &copy) : result);
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    ENTER_DS(cudaMemcpy3D, v3020, v7000, p);
    CUDA_MEMCPY3D copy;
    CUresult result = rt_copy3d(p, &copy);
    LEAVE(result == CUDA_SUCCESS ? CALL(cuMemcpy3D, &copy) : result);
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    ENTER_DS(cudaMemcpy3DPeer, v4000, v7000, p);
    CUDA_MEMCPY3D_PEER copy;
    CUresult result = rt_copy3d_peer(p, &copy);
    LEAVE(result == CUDA_SUCCESS ? CALL(cuMemcpy3DPeer, &copy) : result);
}

/* Finds the variable's bytes [offset, offset + count). */
static CUresult symbol_range(const void *symbol, size_t count, size_t offset, CUdeviceptr *address)
{
    size_t size_bytes;
    CUresult result = rt_variable(symbol, address, &size_bytes);
    if (result != CUDA_SUCCESS)
        return result;
    if (offset > size_bytes || count > size_bytes - offset)
        return CUDA_ERROR_INVALID_VALUE;
    *address += offset;
    return CUDA_SUCCESS;
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                               enum cudaMemcpyKind kind)
{
    ENTER_DS(cudaMemcpyToSymbol, v3020, v7000, symbol, src, count, offset, kind);
    CUdeviceptr dst;
    CUresult result = symbol_range(symbol, count, offset, &dst);
    LEAVE(result == CUDA_SUCCESS ? copy_now((void *)(uintptr_t)dst, src, count, kind) : result);
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                 enum cudaMemcpyKind kind)
{
    ENTER_DS(cudaMemcpyFromSymbol, v3020, v7000, dst, symbol, count, offset, kind);
    CUdeviceptr src;
    CUresult result = symbol_range(symbol, count, offset, &src);
    LEAVE(result == CUDA_SUCCESS ? copy_now(dst, (void *)(uintptr_t)src, count, kind) : result);
}

/* Asynchronous copies. */

/* As of one row: the driver is told that both sides are the host's. */
static CUresult copy_between_hosts(void *dst, const void *src, size_t count, cudaStream_t stream)
{
    CUDA_MEMCPY2D copy;
    CUresult result = rt_copy2d(&copy, dst, count, src, count, count, 1, cudaMemcpyHostToHost);
    return result == CUDA_SUCCESS ? CALL(cuMemcpy2DAsync, &copy, stream) : result;
}

static CUresult copy_later(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                           cudaStream_t stream)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return CALL(cuMemcpyHtoDAsync, rt_dptr(dst), src, count, stream);
    case cudaMemcpyDeviceToHost:
        return CALL(cuMemcpyDtoHAsync, dst, rt_dptr(src), count, stream);
    case cudaMemcpyDeviceToDevice:
        return CALL(cuMemcpyDtoDAsync, rt_dptr(dst), rt_dptr(src), count, stream);
    case cudaMemcpyHostToHost:
        return copy_between_hosts(dst, src, count, stream);
    case cudaMemcpyDefault:
        return CALL(cuMemcpyAsync, rt_dptr(dst), rt_dptr(src), count, stream);
    }
    return (CUresult)cudaErrorInvalidMemcpyDirection;
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    ENTER_SZ(cudaMemcpyAsync, v3020, v7000, dst, src, count, kind, stream);
    LEAVE(copy_later(dst, src, count, kind, stream));
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    ENTER_SZ(cudaMemcpy2DAsync, v3020, v7000, dst, dpitch, src, spitch, width, height, kind,
             stream);
    CUDA_MEMCPY2D copy;
    CUresult result = rt_copy2d(&copy, dst, dpitch, src, spitch, width, height, kind);
    LEAVE(result == CUDA_SUCCESS ? CALL(cuMemcpy2DAsync, &copy, stream) : result);
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    ENTER_SZ(cudaMemcpy3DAsync, v3020, v7000, p, stream);
    CUDA_MEMCPY3D copy;
    CUresult result = rt_copy3d(p, &copy);
    LEAVE(result == CUDA_SUCCESS ? CALL(cuMemcpy3DAsync, &copy, stream) : result);
}

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    ENTER_SZ(cudaMemcpy3DPeerAsync, v4000, v7000, p, stream);
    CUDA_MEMCPY3D_PEER copy;
    CUresult result = rt_copy3d_peer(p, &copy);
    LEAVE(result == CUDA_SUCCESS ? CALL(cuMemcpy3DPeerAsync, &copy, stream) : result);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    ENTER_SZ(cudaMemcpyToSymbolAsync, v3020, v7000, symbol, src, count, offset, kind, stream);
    CUdeviceptr dst;
    CUresult result = symbol_range(symbol, count, offset, &dst);
    if (result == CUDA_SUCCESS)
        result = copy_later((void *)(uintptr_t)dst, src, count, kind, stream);
    LEAVE(result);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    ENTER_SZ(cudaMemcpyFromSymbolAsync, v3020, v7000, dst, symbol, count, offset, kind, stream);
    CUdeviceptr src;
    CUresult result = symbol_range(symbol, count, offset, &src);
    if (result == CUDA_SUCCESS)
        result = copy_later(dst, (void *)(uintptr_t)src, count, kind, stream);
    LEAVE(result);
}

/* The two headers lay these blocks out alike, down to the numbers of their enumerations. */
_Static_assert(sizeof(struct cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes), "attributes");
_Static_assert(sizeof(struct cudaMemcpy3DBatchOp) == sizeof(CUDA_MEMCPY3D_BATCH_OP), "batch");
_Static_assert(sizeof(struct cudaMemLocation) == sizeof(CUmemLocation), "location");

cudaError_t cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes,
                                 size_t count, struct cudaMemcpyAttributes *attrs,
                                 size_t *attrsIdxs, size_t numAttrs, cudaStream_t stream)
{
    ENTER_SZ(cudaMemcpyBatchAsync, v13000, v13000, dsts, srcs, sizes, count, attrs, attrsIdxs,
             numAttrs, stream);
    LEAVE(CALL(cuMemcpyBatchAsync, (CUdeviceptr *)(uintptr_t)dsts, (CUdeviceptr *)(uintptr_t)srcs,
               (size_t *)(uintptr_t)sizes, count, (CUmemcpyAttributes *)(void *)attrs, attrsIdxs,
               numAttrs, stream));
}

cudaError_t cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList,
                                   unsigned long long flags, cudaStream_t stream)
{
    ENTER_SZ(cudaMemcpy3DBatchAsync, v13000, v13000, numOps, opList, flags, stream);
    LEAVE(CALL(cuMemcpy3DBatchAsync, numOps, (CUDA_MEMCPY3D_BATCH_OP *)(void *)opList, flags,
               stream));
}

static CUmemLocation driver_location(struct cudaMemLocation location)
{
    return (CUmemLocation){.type = (CUmemLocationType)location.type, .id = location.id};
}

cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, struct cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream)
{
    ENTER_SZ(cudaMemPrefetchAsync, v12020, v12020, devPtr, count, location, flags, stream);
    LEAVE(
        CALL(cuMemPrefetchAsync, rt_dptr(devPtr), count, driver_location(location), flags, stream));
}

cudaError_t cudaMemPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                      struct cudaMemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                      size_t numPrefetchLocs, unsigned long long flags,
                                      cudaStream_t stream)
{
    ENTER_SZ(cudaMemPrefetchBatchAsync, v13000, v13000, dptrs, sizes, count, prefetchLocs,
             prefetchLocIdxs, numPrefetchLocs, flags, stream);
    LEAVE(CALL(cuMemPrefetchBatchAsync, (CUdeviceptr *)(void *)dptrs, sizes, count,
               (CUmemLocation *)(void *)prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags,
               stream));
}

/* Fills. */

cudaError_t cudaMemset(void *devPtr, int value, size_t count)
{
    ENTER_DS(cudaMemset, v3020, v7000, devPtr, value, count);
    LEAVE(CALL(cuMemsetD8, rt_dptr(devPtr), (unsigned char)value, count));
}

cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    ENTER_DS(cudaMemset2D, v3020, v7000, devPtr, pitch, value, width, height);
    LEAVE(CALL(cuMemsetD2D8, rt_dptr(devPtr), pitch, (unsigned char)value, width, height));
}

/* A slice of a pitched block is a two-dimensional fill; `stream` is unused where `is_now`. */
static CUresult fill_slices(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                            bool is_now, cudaStream_t stream)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t z = 0; z < extent.depth && result == CUDA_SUCCESS; z++) {
        CUdeviceptr slice = rt_dptr(to.ptr) + z * to.pitch * to.ysize;
        result = is_now ? CALL(cuMemsetD2D8, slice, to.pitch, (unsigned char)value, extent.width,
                               extent.height)
                        : CALL(cuMemsetD2D8Async, slice, to.pitch, (unsigned char)value,
                               extent.width, extent.height, stream);
    }
    return result;
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent)
{
    ENTER_DS(cudaMemset3D, v3020, v7000, pitchedDevPtr, value, extent);
    LEAVE(fill_slices(pitchedDevPtr, value, extent, true, NULL));
}

cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    ENTER_SZ(cudaMemsetAsync, v3020, v7000, devPtr, value, count, stream);
    LEAVE(CALL(cuMemsetD8Async, rt_dptr(devPtr), (unsigned char)value, count, stream));
}

cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    ENTER_SZ(cudaMemset2DAsync, v3020, v7000, devPtr, pitch, value, width, height, stream);
    LEAVE(CALL(cuMemsetD2D8Async, rt_dptr(devPtr), pitch, (unsigned char)value, width, height,
               stream));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value,
                              struct cudaExtent extent, cudaStream_t stream)
{
    ENTER_SZ(cudaMemset3DAsync, v3020, v7000, pitchedDevPtr, value, extent, stream);
    LEAVE(fill_slices(pitchedDevPtr, value, extent, false, stream));
}

/* Stream-ordered allocation. */

cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
{
    ENTER_SZ(cudaMallocAsync, v11020, v11020, devPtr, size, hStream);
    LEAVE(CALL(cuMemAllocAsync, (CUdeviceptr *)(void *)devPtr, size, hStream));
}

cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool,
                                    cudaStream_t stream)
{
    ENTER_SZ(cudaMallocFromPoolAsync, v11020, v11020, ptr, size, memPool, stream);
    LEAVE(CALL(cuMemAllocFromPoolAsync, (CUdeviceptr *)(void *)ptr, size, memPool, stream));
}

cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t hStream)
{
    ENTER_SZ(cudaFreeAsync, v11020, v11020, devPtr, hStream);
    LEAVE(CALL(cuMemFreeAsync, rt_dptr(devPtr), hStream));
}

/* Streams and events. */

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    ENTER_SZ(cudaStreamSynchronize, v3020, v7000, stream);
    LEAVE(CALL(cuStreamSynchronize, stream));
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    ENTER_SZ(cudaStreamQuery, v3020, v7000, stream);
    LEAVE(CALL(cuStreamQuery, stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    ENTER_SZ(cudaStreamWaitEvent, v3020, v7000, stream, event, flags);
    LEAVE(CALL(cuStreamWaitEvent, stream, event, flags));
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void *userData, unsigned int flags)
{
    ENTER_SZ(cudaStreamAddCallback, v5000, v7000, stream, callback, userData, flags);
    LEAVE(CALL(cuStreamAddCallback, stream, (CUstreamCallback)(void (*)(void))callback, userData,
               flags));
}

cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags)
{
    ENTER_SZ(cudaStreamGetFlags, v5050, v7000, hStream, flags);
    LEAVE(CALL(cuStreamGetFlags, hStream, flags));
}

cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int *priority)
{
    ENTER_SZ(cudaStreamGetPriority, v5050, v7000, hStream, priority);
    LEAVE(CALL(cuStreamGetPriority, hStream, priority));
}

cudaError_t cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId)
{
    ENTER_SZ(cudaStreamGetId, v12000, v12000, hStream, streamId);
    LEAVE(CALL(cuStreamGetId, hStream, streamId));
}

cudaError_t cudaStreamGetDevice(cudaStream_t hStream, int *device)
{
    ENTER_SZ(cudaStreamGetDevice, v12080, v12080, hStream, device);
    LEAVE(CALL(cuStreamGetDevice, hStream, device));
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src)
{
    ENTER_SZ(cudaStreamCopyAttributes, v11000, v11000, dst, src);
    LEAVE(CALL(cuStreamCopyAttributes, dst, src));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length,
                                     unsigned int flags)
{
    ENTER_SZ(cudaStreamAttachMemAsync, v6000, v7000, stream, devPtr, length, flags);
    LEAVE(CALL(cuStreamAttachMemAsync, stream, rt_dptr(devPtr), length, flags));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    ENTER_SZ(cudaEventRecord, v3020, v7000, event, stream);
    LEAVE(CALL(cuEventRecord, event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    ENTER_SZ(cudaEventRecordWithFlags, v11010, v11010, event, stream, flags);
    LEAVE(CALL(cuEventRecordWithFlags, event, stream, flags));
}

/* Launches. */

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    ENTER_SZ(cudaLaunchHostFunc, v10000, v10000, stream, fn, userData);
    LEAVE(CALL(cuLaunchHostFunc, stream, fn, userData));
}

cudaError_t
cudaSignalExternalSemaphoresAsync(const cudaExternalSemaphore_t *extSemArray,
                                  const struct cudaExternalSemaphoreSignalParams *paramsArray,
                                  unsigned int numExtSems, cudaStream_t stream)
{
    ENTER_SZ(cudaSignalExternalSemaphoresAsync, v11020, v11020, extSemArray, paramsArray,
             numExtSems, stream);
    LEAVE(CALL(cuSignalExternalSemaphoresAsync,
               (const CUexternalSemaphore *)(const void *)extSemArray,
               (const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *)(const void *)paramsArray, numExtSems,
               stream));
}

cudaError_t
cudaWaitExternalSemaphoresAsync(const cudaExternalSemaphore_t *extSemArray,
                                const struct cudaExternalSemaphoreWaitParams *paramsArray,
                                unsigned int numExtSems, cudaStream_t stream)
{
    ENTER_SZ(cudaWaitExternalSemaphoresAsync, v11020, v11020, extSemArray, paramsArray, numExtSems,
             stream);
    LEAVE(CALL(cuWaitExternalSemaphoresAsync,
               (const CUexternalSemaphore *)(const void *)extSemArray,
               (const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *)(const void *)paramsArray, numExtSems,
               stream));
}

static CUresult launch(const void *func, dim3 grid, dim3 block, void **args, size_t shared_bytes,
                       cudaStream_t stream)
{
    CUfunction function;
    CUresult result = rt_function(func, &function);
    if (result != CUDA_SUCCESS)
        return result;
    return CALL(cuLaunchKernel, function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                (unsigned int)shared_bytes, stream, args, NULL);
}

cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                             size_t sharedMem, cudaStream_t stream)
{
    ENTER_SZ(cudaLaunchKernel, v7000, v7000, func, gridDim, blockDim, args, sharedMem, stream);
    LEAVE(launch(func, gridDim, blockDim, args, sharedMem, stream));
}

/* What nvcc's launch syntax compiles to; it is the function above under another name. */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define __cudaLaunchKernel __cudaLaunchKernel_ptsz
#endif
__attribute__((visibility("default"))) cudaError_t __cudaLaunchKernel(cudaKernel_t kernel,
                                                                      dim3 gridDim, dim3 blockDim,
                                                                      void **args, size_t sharedMem,
                                                                      cudaStream_t stream);

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args,
                               size_t sharedMem, cudaStream_t stream)
{
    return cudaLaunchKernel(kernel, gridDim, blockDim, args, sharedMem, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                        size_t sharedMem, cudaStream_t stream)
{
    ENTER_SZ(cudaLaunchCooperativeKernel, v9000, v9000, func, gridDim, blockDim, args, sharedMem,
             stream);
    CUfunction function;
    CUresult result = rt_function(func, &function);
    if (result == CUDA_SUCCESS)
        result = CALL(cuLaunchCooperativeKernel, function, gridDim.x, gridDim.y, gridDim.z,
                      blockDim.x, blockDim.y, blockDim.z, (unsigned int)sharedMem, stream, args);
    LEAVE(result);
}

_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute), "launch attribute");

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    ENTER_SZ(cudaLaunchKernelExC, v11060, v11060, config, func, args);
    CUfunction function;
    CUresult result = config ? rt_function(func, &function) : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        LEAVE(result);
    CUlaunchConfig driver = {
        .gridDimX = config->gridDim.x,
        .gridDimY = config->gridDim.y,
        .gridDimZ = config->gridDim.z,
        .blockDimX = config->blockDim.x,
        .blockDimY = config->blockDim.y,
        .blockDimZ = config->blockDim.z,
        .sharedMemBytes = (unsigned int)config->dynamicSmemBytes,
        .hStream = config->stream,
        .attrs = (CUlaunchAttribute *)(void *)config->attrs,
        .numAttrs = config->numAttrs,
    };
    LEAVE(CALL(cuLaunchKernelEx, &driver, function, args, NULL));
}

/* Capture, and what stream a graph runs on. */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    ENTER_SZ(cudaStreamBeginCapture, v10000, v10000, stream, mode);
    LEAVE(CALL(cuStreamBeginCapture, stream, (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *dependencyData,
                                          size_t numDependencies, enum cudaStreamCaptureMode mode)
{
    ENTER_SZ(cudaStreamBeginCaptureToGraph, v12030, v12030, stream, graph, dependencies,
             dependencyData, numDependencies, mode);
    LEAVE(CALL(cuStreamBeginCaptureToGraph, stream, graph, dependencies,
               (const CUgraphEdgeData *)(const void *)dependencyData, numDependencies,
               (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph)
{
    ENTER_SZ(cudaStreamEndCapture, v10000, v10000, stream, pGraph);
    LEAVE(CALL(cuStreamEndCapture, stream, pGraph));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus)
{
    ENTER_SZ(cudaStreamIsCapturing, v10000, v10000, stream, pCaptureStatus);
    LEAVE(CALL(cuStreamIsCapturing, stream, (CUstreamCaptureStatus *)(void *)pCaptureStatus));
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                     enum cudaStreamCaptureStatus *captureStatus_out,
                                     unsigned long long *id_out, cudaGraph_t *graph_out,
                                     const cudaGraphNode_t **dependencies_out,
                                     const cudaGraphEdgeData **edgeData_out,
                                     size_t *numDependencies_out)
{
    ENTER_SZ(cudaStreamGetCaptureInfo, v12030, v12030, stream, captureStatus_out, id_out, graph_out,
             dependencies_out, edgeData_out, numDependencies_out);
    LEAVE(CALL(cuStreamGetCaptureInfo, stream, (CUstreamCaptureStatus *)(void *)captureStatus_out,
               (cuuint64_t *)(void *)id_out, graph_out, dependencies_out,
               (const CUgraphEdgeData **)(void *)edgeData_out, numDependencies_out));
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                const cudaGraphEdgeData *dependencyData,
                                                size_t numDependencies, unsigned int flags)
{
    ENTER_SZ(cudaStreamUpdateCaptureDependencies, v12030, v12030, stream, dependencies,
             dependencyData, numDependencies, flags);
    LEAVE(CALL(cuStreamUpdateCaptureDependencies, stream, dependencies,
               (const CUgraphEdgeData *)(const void *)dependencyData, numDependencies, flags));
}

_Static_assert(sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS), "");

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *instantiateParams)
{
    ENTER_SZ(cudaGraphInstantiateWithParams, v12000, v12000, pGraphExec, graph, instantiateParams);
    LEAVE(CALL(cuGraphInstantiateWithParams, pGraphExec, graph,
               (CUDA_GRAPH_INSTANTIATE_PARAMS *)(void *)instantiateParams));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    ENTER_SZ(cudaGraphUpload, v10000, v10000, graphExec, stream);
    LEAVE(CALL(cuGraphUpload, graphExec, stream));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    ENTER_SZ(cudaGraphLaunch, v10000, v10000, graphExec, stream);
    LEAVE(CALL(cuGraphLaunch, graphExec, stream));
}

/* The driver's own entry points. */

static CUresult entry_point(const char *symbol, void **funcPtr, unsigned int version,
                            unsigned long long flags, enum cudaDriverEntryPointQueryResult *status)
{
    if (flags == cudaEnableDefault)
        flags = RT_DEFAULT_STREAM == RT_PER_THREAD ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                                   : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    CUresult result = CALL(cuGetProcAddress, symbol, funcPtr, (int)version, flags, &found);
    if (!status)
        return result;
    *status = (enum cudaDriverEntryPointQueryResult)found;
    return result == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : result;
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *driverStatus)
{
    ENTER_SZ(cudaGetDriverEntryPoint, v11030, v11030, symbol, funcPtr, flags, driverStatus);
    LEAVE(entry_point(symbol, funcPtr, CUDART_VERSION, flags, driverStatus));
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr,
                                             unsigned int cudaVersion, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *driverStatus)
{
    ENTER_SZ(cudaGetDriverEntryPointByVersion, v12050, v12050, symbol, funcPtr, cudaVersion, flags,
             driverStatus);
    LEAVE(entry_point(symbol, funcPtr, cudaVersion, flags, driverStatus));
}

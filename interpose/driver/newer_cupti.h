/* The structures in which CUPTI passes on the arguments of the functions in newer_cuda.h, for
 * headers of CUPTI that lack them. To be included after generated_cuda_meta.h and
 * cupti_driver_cbid.h. */
#ifndef SC_INTERPOSE_DRIVER_NEWER_CUPTI_H
#define SC_INTERPOSE_DRIVER_NEWER_CUPTI_H

#include <cupti_version.h>

#include "interpose/driver/newer_cuda.h"
#include "interpose/driver/newer_ids.h"

#if CUPTI_API_VERSION < 130101
typedef struct {
    CUmemGenericAllocationHandle mcHandle;
    CUdevice dev;
    size_t mcOffset;
    CUmemGenericAllocationHandle memHandle;
    size_t memOffset;
    size_t size;
    unsigned long long flags;
} cuMulticastBindMem_v2_params;
typedef struct {
    CUmemGenericAllocationHandle mcHandle;
    CUdevice dev;
    size_t mcOffset;
    CUdeviceptr memptr;
    size_t size;
    unsigned long long flags;
} cuMulticastBindAddr_v2_params;
#endif

#if CUPTI_API_VERSION < 130200
typedef struct {
    CUstream hStream;
    CUhostFn fn;
    void *userData;
    unsigned int syncMode;
} cuLaunchHostFunc_v2_params;
typedef cuLaunchHostFunc_v2_params cuLaunchHostFunc_v2_ptsz_params;
typedef struct {
    CUdeviceptr dst;
    CUdeviceptr src;
    size_t size;
    CUmemcpyAttributes *attr;
    CUstream hStream;
} cuMemcpyWithAttributesAsync_params;
typedef cuMemcpyWithAttributesAsync_params cuMemcpyWithAttributesAsync_ptsz_params;
typedef struct {
    CUDA_MEMCPY3D_BATCH_OP *op;
    unsigned long long flags;
    CUstream hStream;
} cuMemcpy3DWithAttributesAsync_params;
typedef cuMemcpy3DWithAttributesAsync_params cuMemcpy3DWithAttributesAsync_ptsz_params;
#endif

#if CUPTI_API_VERSION < 130300
typedef struct {
    CUstream hStream;
    CUstreamCaptureMode mode;
    CUgraph hGraph;
    CUgraphRecaptureCallback callbackFunc;
    void *userData;
} cuStreamBeginRecaptureToGraph_params;
typedef cuStreamBeginRecaptureToGraph_params cuStreamBeginRecaptureToGraph_ptsz_params;
#endif

#if CUPTI_API_VERSION < 130400
typedef struct {
    CUgraphNode *phGraphNode;
    CUgraph hGraph;
    const CUgraphNode *dependencies;
    const CUgraphEdgeData *dependencyData;
    size_t numDependencies;
    CUgraphNodeParams *nodeParams;
} cuGraphAddNode_v3_params;
typedef struct {
    CUgraphNode hNode;
    CUgraphNodeParams *nodeParams;
} cuGraphNodeSetParams_v2_params;
#endif

#endif

/* Types of functions that api.def names and the headers of CUDA 13.0 lack, as cudaTypedefs.h of a
 * later CUDA has them. A function keeps its type for good, so a library that is built with the
 * headers of 13.0 serves a later driver, too. Later headers have these types themselves. */
#ifndef SC_INTERPOSE_DRIVER_NEWER_CUDA_H
#define SC_INTERPOSE_DRIVER_NEWER_CUDA_H

#include <cuda.h>

#if CUDA_VERSION < 13020
typedef CUresult(CUDAAPI *PFN_cuLaunchHostFunc_v13010)(CUstream stream, CUhostFn function,
                                                       void *data, unsigned int mode);
typedef PFN_cuLaunchHostFunc_v13010 PFN_cuLaunchHostFunc_v13010_ptsz;
typedef CUresult(CUDAAPI *PFN_cuMulticastBindMem_v13010)(CUmemGenericAllocationHandle multicast,
                                                         CUdevice device, size_t offset,
                                                         CUmemGenericAllocationHandle memory,
                                                         size_t memory_offset, size_t size,
                                                         unsigned long long flags);
typedef CUresult(CUDAAPI *PFN_cuMulticastBindAddr_v13010)(CUmemGenericAllocationHandle multicast,
                                                          CUdevice device, size_t offset,
                                                          CUdeviceptr memory, size_t size,
                                                          unsigned long long flags);
typedef CUresult(CUDAAPI *PFN_cuMemcpyWithAttributesAsync_v13020)(CUdeviceptr dst, CUdeviceptr src,
                                                                  size_t size,
                                                                  CUmemcpyAttributes *attributes,
                                                                  CUstream stream);
typedef PFN_cuMemcpyWithAttributesAsync_v13020 PFN_cuMemcpyWithAttributesAsync_v13020_ptsz;
typedef CUresult(CUDAAPI *PFN_cuMemcpy3DWithAttributesAsync_v13020)(CUDA_MEMCPY3D_BATCH_OP *op,
                                                                    unsigned long long flags,
                                                                    CUstream stream);
typedef PFN_cuMemcpy3DWithAttributesAsync_v13020 PFN_cuMemcpy3DWithAttributesAsync_v13020_ptsz;
#endif

#if CUDA_VERSION < 13030
/* The driver calls it for each node of a graph that is captured anew. `status`: a
 * CUgraphRecaptureStatus, as an int, which says what has become of the node's parameters. */
typedef CUresult(CUDA_CB *CUgraphRecaptureCallback)(void *data, CUgraphNode node,
                                                    const CUgraphNodeParams *original,
                                                    const CUgraphNodeParams *captured, int status);
typedef CUresult(CUDAAPI *PFN_cuStreamBeginRecaptureToGraph_v13030)(
    CUstream stream, CUstreamCaptureMode mode, CUgraph graph, CUgraphRecaptureCallback changed,
    void *data);
typedef PFN_cuStreamBeginRecaptureToGraph_v13030 PFN_cuStreamBeginRecaptureToGraph_v13030_ptsz;
#endif

#if CUDA_VERSION < 13040
typedef CUresult(CUDAAPI *PFN_cuGraphAddNode_v13040)(CUgraphNode *node, CUgraph graph,
                                                     const CUgraphNode *dependencies,
                                                     const CUgraphEdgeData *edges, size_t count,
                                                     CUgraphNodeParams *parameters);
typedef CUresult(CUDAAPI *PFN_cuGraphNodeSetParams_v13040)(CUgraphNode node,
                                                           CUgraphNodeParams *parameters);
#endif

#endif

/* CUPTI's ids of the functions in newer_cuda.h, for headers of CUPTI that lack them. An id never
 * changes. To be included after cupti_driver_cbid.h; cuda.h is not needed. */
#ifndef SC_INTERPOSE_DRIVER_NEWER_IDS_H
#define SC_INTERPOSE_DRIVER_NEWER_IDS_H

#include <cupti_version.h>

#if CUPTI_API_VERSION < 130101
enum {
    CUPTI_DRIVER_TRACE_CBID_cuMulticastBindMem_v2 = 820,
    CUPTI_DRIVER_TRACE_CBID_cuMulticastBindAddr_v2 = 821,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc_v2 = 831,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc_v2_ptsz = 832,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyWithAttributesAsync = 837,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyWithAttributesAsync_ptsz = 838,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DWithAttributesAsync = 839,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DWithAttributesAsync_ptsz = 840,
};
#endif

#if CUPTI_API_VERSION < 130300
enum {
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginRecaptureToGraph = 846,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginRecaptureToGraph_ptsz = 847,
};
#endif

#if CUPTI_API_VERSION < 130400
enum {
    CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v3 = 863,
    CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetParams_v2 = 864,
};
#endif

#endif

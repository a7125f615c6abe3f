/* Functions of CUDA 13.1 to 13.4 that the simulated driver has, as cuda.h of a later CUDA declares
 * them. To include it is what a program does that is built with older headers and looks them up. */
#ifndef SIM_NEWER_H
#define SIM_NEWER_H

#include <cudaTypedefs.h>

#include "interpose/driver/newer_cuda.h"

#define SIM_NEWER(symbol, pfn) __typeof__(*(pfn)0) symbol;
SIM_NEWER(cuLaunchHostFunc_v2, PFN_cuLaunchHostFunc_v13010)
SIM_NEWER(cuLaunchHostFunc_v2_ptsz, PFN_cuLaunchHostFunc_v13010_ptsz)
SIM_NEWER(cuMulticastBindMem_v2, PFN_cuMulticastBindMem_v13010)
SIM_NEWER(cuMulticastBindAddr_v2, PFN_cuMulticastBindAddr_v13010)
SIM_NEWER(cuMemcpyWithAttributesAsync, PFN_cuMemcpyWithAttributesAsync_v13020)
SIM_NEWER(cuMemcpyWithAttributesAsync_ptsz, PFN_cuMemcpyWithAttributesAsync_v13020_ptsz)
SIM_NEWER(cuMemcpy3DWithAttributesAsync, PFN_cuMemcpy3DWithAttributesAsync_v13020)
SIM_NEWER(cuMemcpy3DWithAttributesAsync_ptsz, PFN_cuMemcpy3DWithAttributesAsync_v13020_ptsz)
SIM_NEWER(cuGraphAddNode_v3, PFN_cuGraphAddNode_v13040)
SIM_NEWER(cuGraphNodeSetParams_v2, PFN_cuGraphNodeSetParams_v13040)

/* A function that no CUDA has, which a driver with `driver=13990` hands out in place of an older
 * one: what the library has never heard of. */
#include "newer_id.h"

#define PFN_cuMemcpyHtoDAsync_v13990 PFN_cuMemcpyHtoDAsync_v3020
#define cuMemcpyHtoDAsync_v9_params cuMemcpyHtoDAsync_v2_params
SIM_NEWER(cuMemcpyHtoDAsync_v9, PFN_cuMemcpyHtoDAsync_v13990)
#undef SIM_NEWER

#endif

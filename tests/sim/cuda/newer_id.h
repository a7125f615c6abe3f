/* The id by which the simulated CUPTI tells of the function that no CUDA has (newer.h). */
#ifndef SIM_NEWER_ID_H
#define SIM_NEWER_ID_H

enum { CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v9 = 1000 };

#endif

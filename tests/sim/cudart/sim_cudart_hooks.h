/*
 * What the simulated libcudart.so.13 offers the simulated libcupti.so.13 beyond CUDA's own names;
 * the like of ../cuda/sim_hooks.h. Found with dlsym, so that neither library needs the other.
 */
#ifndef SIM_CUDART_HOOKS_H
#define SIM_CUDART_HOOKS_H

/*
 * Called on the caller's thread, before the work (enter = 1, result = 0) and after it.
 * cbid: CUPTI_RUNTIME_TRACE_CBID_*; symbol: with its version, "cudaMemcpyAsync_v3020";
 * args: a `<symbol>_params *`, or NULL for a function without arguments.
 */
typedef void sim_cudart_callback(int enter, int cbid, const char *symbol, void *args, int result);

/* NULL takes the callback away. A call under way finishes with the one it started with. */
void sim_cudart_set_callback(sim_cudart_callback *callback);

/* "cudaMalloc_v3020" for a callback id; NULL where the simulated runtime has no such function. */
const char *sim_cudart_name(int cbid);

#endif

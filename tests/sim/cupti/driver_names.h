/*
 * Names of the driver domain's callback ids, for one meaning of stream 0. cuda.h renames each
 * function to its current version and variant; the rename is what makes the id and the name agree.
 *
 * The includer defines NAMES and, for the per-thread variants, CUDA_API_PER_THREAD_DEFAULT_STREAM.
 */
#include <cuda.h>
#include <cupti_driver_cbid.h>

#include "../cudart/driver.def"
#include "cupti_sim.h"
#include "direct.def"

/* It has a second variant, and one id. */
#undef cuGetProcAddress_v2

#define ID(symbol) CUPTI_DRIVER_TRACE_CBID_##symbol
#define ROW(symbol) {#symbol, ID(symbol)},
#define NAME(function) ROW(function)

const struct cupti_sim_name NAMES[] = {
    RT_DRIVER_FUNCTIONS(NAME) RT_DRIVER_FUNCTIONS_12000(NAME) DIRECT_FUNCTIONS(NAME){NULL, 0},
};

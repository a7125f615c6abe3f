/* Every function of the driver that the simulated one does not have: present, and saying so. */
#include "sim.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif

static CUresult unsupported(void) __asm__("sim_unsupported");

__attribute__((used)) static CUresult unsupported(void)
{
    CUresult gate = sim_gate();
    return gate ? gate : CUDA_ERROR_NOT_SUPPORTED;
}

#define SIM_FUNCTION(symbol, base, version, variant)
#define SIM_STUB(symbol, base, version, variant)                                                   \
    __attribute__((alias("sim_unsupported"))) __typeof__(symbol) symbol;                           \
    extern __typeof__(symbol) sim_own_##symbol                                                     \
        __attribute__((alias("sim_unsupported"), visibility("hidden")));
#include "driver.def"

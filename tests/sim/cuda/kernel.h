/* module.c: what launches need to know of a kernel. */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include "sim.h"

/* How long the kernel occupies its stream: one named "spin" takes its first parameter in
 * nanoseconds, any other one the time of the option `kernel`. */
CUresult sim_kernel_time(CUfunction function, void **params, void **extra, uint64_t *ns);

/* One named "fault" fails when it runs, and every context is lost with it. */
bool sim_kernel_faults(CUfunction function);

#endif

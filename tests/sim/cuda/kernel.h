/* module.c: what launches need to know of a kernel. */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include "work.h"

/* What a launch of the kernel does. The function may be a CUkernel. One named "spin" occupies its
 * stream for its first parameter, in nanoseconds, any other one for the time of the option
 * `kernel`. One named "fault" fails when it runs, and every context is lost with it. One named
 * "copy_bytes" has three parameters: it copies from the second to the first, as many bytes as the
 * third says (of 32 bits). "serve_words" has three as well: whenever the first word (of 32 bits) is
 * more than the second, it counts the second up, and ends when that has reached the third.
 * "touch_bytes" has two, of 64 bits: an address, and how many bytes it touches there, which shows
 * where somebody counts page faults and nowhere else.
 * "count_down" has one parameter, the handle of a condition: as a node of a graph it makes that one
 * less. */
CUresult sim_kernel_work(CUfunction function, void **params, void **extra, struct sim_work *work);

/* The addresses that a kernel works with become the device's, when it is launched. `waits`: as
 * copies have it. */
CUresult sim_kernel_bind_locked(struct sim_work *work, CUstream stream, bool *waits);

/* The values of a kernel's parameters, which nodes keep and share. */
struct sim_values;

/* Copies them, and has the parameters name the copies. NULL: they are not known, or there are none,
 * and the parameters stay as they are. */
struct sim_values *sim_values_copy(CUDA_KERNEL_NODE_PARAMS *params);
void sim_values_share_locked(struct sim_values *values); /* NULL: nothing happens */
void sim_values_give_locked(struct sim_values *values);

/* The kernel is launched in the context: the limits of what its module uses are fixed. */
void sim_kernel_fixes_limits_locked(CUfunction function, CUcontext context);

#endif

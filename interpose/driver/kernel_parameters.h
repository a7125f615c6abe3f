/* The parameters of a kernel, as far as they may be addresses.
 *
 * Of each parameter the driver says where it lies and how large it is, but not what it is. So each
 * aligned word of eight bytes is one that may be an address, also within a structure. Drivers
 * before CUDA 12.4 say nothing: there only parameters in one block are known (the `extra` of a
 * launch), each word of it.
 *
 * Locks: none. Not for a signal handler: the driver is called, under the thread's relaxed mode. No
 * capture is disturbed.
 */
#ifndef SC_INTERPOSE_DRIVER_KERNEL_PARAMETERS_H
#define SC_INTERPOSE_DRIVER_KERNEL_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/driver/driver.h"

enum { SC_KERNEL_ADDRESSES_MAX = 128 };

struct sc_kernel_parameters {
    unsigned count;
    bool is_known; /* these are all: where they lie is known, and there was room */
    uintptr_t addresses[SC_KERNEL_ADDRESSES_MAX];
};

/* The arguments of a launch. */
struct sc_launch {
    CUstream stream;
    CUfunction function;
    void *const *parameters;
    void *const *extra;
    bool is_accepted; /* the driver has taken it, and has read what the arguments point to */
};

/* Parameters that cannot be read are left out, since the driver may still refuse the launch. */
void sc_kernel_parameters_read(struct sc_kernel_parameters *read, const struct sc_launch *launch);

#endif

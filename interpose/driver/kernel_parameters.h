/* Reads the parameters of a kernel launch, to find what may be addresses of memory that the kernel
 * uses.
 *
 * For each parameter the driver says where it lies and how large it is, but not what it means. So
 * each aligned word of eight bytes may be an address, also within a structure. Drivers before
 * CUDA 12.4 say nothing. With those only parameters in one block are known (the `extra` of a
 * launch), and each word of the block may be an address.
 *
 * Locks: none. Not for a signal handler: the driver is called, under the thread's relaxed mode. No
 * capture is disturbed. */
#ifndef SC_INTERPOSE_DRIVER_KERNEL_PARAMETERS_H
#define SC_INTERPOSE_DRIVER_KERNEL_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/driver/driver.h"

enum { SC_KERNEL_ADDRESSES_MAX = 128 };

struct sc_kernel_parameters {
    unsigned count;
    bool is_known; /* no address is missing in `addresses` */
    uintptr_t addresses[SC_KERNEL_ADDRESSES_MAX];
};

/* The arguments of a launch. */
struct sc_launch {
    CUstream stream;
    CUfunction function;
    void *const *parameters;
    void *const *extra;
    bool is_accepted; /* the driver has read what the arguments point to */
};

/* Reads the addresses among the launch's parameters. Parameters that cannot be read are left out:
 * the driver may still refuse the launch. */
void sc_kernel_parameters_read(struct sc_kernel_parameters *read, const struct sc_launch *launch);

#endif

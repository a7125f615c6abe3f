/* Reads the parameters of a kernel launch, to find those that may be addresses of memory which the
 * kernel uses.
 *
 * The driver says of each parameter where it lies and how large it is, but not what it means. So
 * each aligned word of eight bytes counts as a possible address, also within a structure. Drivers
 * before CUDA 12.4 say nothing about parameters. With those only parameters that are passed in one
 * block are known (the `extra` of a launch), and each word of the block counts as a possible
 * address.
 *
 * Locks: none. Not for a signal handler: the driver is called, in the thread's relaxed capture
 * mode, so that no capture is broken. */
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
    /* the driver has accepted the launch, so it has read what the arguments point to */
    bool is_accepted;
};

/* Stores the addresses among the launch's parameters. Parameters that cannot be read are left out:
 * the driver may still refuse the launch because of them. */
void sc_kernel_parameters_read(struct sc_kernel_parameters *read, const struct sc_launch *launch);

#endif

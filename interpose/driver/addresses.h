/* What the driver says of an address. Locks: none. Not for a signal handler: the driver is called.
 */
#ifndef SC_INTERPOSE_DRIVER_ADDRESSES_H
#define SC_INTERPOSE_DRIVER_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/driver/driver.h"

/* Is the address device memory? */
bool sc_address_is_device(CUdeviceptr address);

/* Is the address memory that the driver knows nothing of? */
bool sc_address_is_pageable(CUdeviceptr address);

/* Where the device's allocation begins that the address lies in; the address itself if the driver
 * does not say. */
uintptr_t sc_address_base(uintptr_t address);

#endif

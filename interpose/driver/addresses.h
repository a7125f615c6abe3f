/* What the driver says of an address. Locks: none. Not for a signal handler: the driver is called.
 */
#ifndef SC_INTERPOSE_DRIVER_ADDRESSES_H
#define SC_INTERPOSE_DRIVER_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/driver/driver.h"

/* Is the address device memory? */
bool sc_address_is_device(CUdeviceptr address);

/* Does the driver know nothing of the memory at the address? */
bool sc_address_is_pageable(CUdeviceptr address);

/* The first address of the device allocation that `address` lies in; `address` itself if the driver
 * does not say. */
uintptr_t sc_address_base(uintptr_t address);

#endif

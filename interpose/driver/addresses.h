/* Asks the driver about an address. Locks: none. Not for a signal handler: the driver is called. */
#ifndef SC_INTERPOSE_DRIVER_ADDRESSES_H
#define SC_INTERPOSE_DRIVER_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/driver/driver.h"

/* Returns true if the address is device memory, as the driver says. False also if the driver cannot
 * be asked. */
bool sc_address_is_device(CUdeviceptr address);

/* Returns true if the driver knows nothing of the memory at the address, as of what malloc returns.
 * False also if the driver cannot be asked. */
bool sc_address_is_pageable(CUdeviceptr address);

/* Returns the address at which the device allocation that contains `address` begins; `address`
 * itself if the driver does not say. */
uintptr_t sc_address_base(uintptr_t address);

#endif

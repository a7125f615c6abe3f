/* What the driver says of an address. */
#ifndef SC_INTERPOSE_DRIVER_ADDRESSES_H
#define SC_INTERPOSE_DRIVER_ADDRESSES_H

#include <stdbool.h>

#include "interpose/driver/driver.h"

/* What the driver says of an address; it knows nothing of pageable ones. */
bool sc_is_device_address(CUdeviceptr address);
bool sc_is_pageable_address(CUdeviceptr address);

#endif

/* What the driver says of an address. */
#ifndef SC_INTERPOSE_DRIVER_ADDRESSES_H
#define SC_INTERPOSE_DRIVER_ADDRESSES_H

#include <stdbool.h>

#include "interpose/driver/driver.h"

/* What the driver says of an address; it knows nothing of pageable ones. */
bool sc_address_is_device(CUdeviceptr address);
bool sc_address_is_pageable(CUdeviceptr address);

#endif

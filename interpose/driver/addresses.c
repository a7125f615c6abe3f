#include "interpose/driver/addresses.h"

#include "interpose/driver/driver.h"

#include "track/poison.h"

bool sc_is_device_address(CUdeviceptr address)
{
    unsigned type = 0;
    return sc_real.cuPointerGetAttribute &&
           sc_real.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) ==
               CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE;
}

bool sc_is_pageable_address(CUdeviceptr address)
{
    unsigned type = 0;
    return sc_real.cuPointerGetAttribute &&
           sc_real.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) !=
               CUDA_SUCCESS;
}

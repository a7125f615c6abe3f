#include "interpose/driver/addresses.h"

#include "interpose/driver/driver.h"

#include "track/poison.h"

bool sc_address_is_device(CUdeviceptr address)
{
    unsigned type = 0;
    return sc_real.cuPointerGetAttribute &&
           sc_real.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) ==
               CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE;
}

bool sc_address_is_pageable(CUdeviceptr address)
{
    unsigned type = 0;
    return sc_real.cuPointerGetAttribute &&
           sc_real.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) !=
               CUDA_SUCCESS;
}

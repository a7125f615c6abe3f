#include "interpose/driver/addresses.h"

#include "common/uncancelled.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"

#include "common/poison.h"

static CUresult ask_type(CUdeviceptr address, unsigned *type)
{
    SC_NO_CANCELLATION_POINT();
    return sc_real.cuPointerGetAttribute(type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
}

bool sc_address_is_device(CUdeviceptr address)
{
    unsigned type = 0;
    return sc_real.cuPointerGetAttribute && ask_type(address, &type) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE;
}

bool sc_address_is_pageable(CUdeviceptr address)
{
    unsigned type;
    return sc_real.cuPointerGetAttribute && ask_type(address, &type) != CUDA_SUCCESS;
}

/* Returns where the block begins that contains the address; the address itself if the driver does
 * not know. */
uintptr_t sc_address_base(uintptr_t address)
{
    CUdeviceptr base = 0;
    size_t size_bytes = 0;
    SC_RELAXED();
    bool is_known = sc_real.cuMemGetAddressRange_v2 &&
                    sc_real.cuMemGetAddressRange_v2(&base, &size_bytes, address) == CUDA_SUCCESS;
    return is_known ? (uintptr_t)base : address;
}

#include "interpose/driver/addresses.h"

#include "common/uncancelled.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"

#include "common/poison.h"

/* Asks the driver which kind of memory lies at the address. The driver may be waited for, so a
 * cancelled thread must not end there. */
static CUresult ask_type(CUdeviceptr address, unsigned *type)
{
    SC_NO_CANCELLATION_POINT();
    return sc_real.cuPointerGetAttribute(type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
}

/* Is the address device memory, as the driver knows it? False also if this driver cannot be asked.
 */
bool sc_address_is_device(CUdeviceptr address)
{
    unsigned type = 0;
    return sc_real.cuPointerGetAttribute && ask_type(address, &type) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE;
}

/* Does the driver know nothing of the memory at the address, as of what malloc returns? False if
 * this driver cannot be asked. */
bool sc_address_is_pageable(CUdeviceptr address)
{
    unsigned type;
    return sc_real.cuPointerGetAttribute && ask_type(address, &type) != CUDA_SUCCESS;
}

/* Returns where the device allocation begins that contains the address; the address itself if the
 * driver does not know one. The question would break a capture of the program's, so it is asked in
 * relaxed mode. */
uintptr_t sc_address_base(uintptr_t address)
{
    CUdeviceptr base = 0;
    size_t size_bytes = 0;
    SC_RELAXED();
    bool is_known = sc_real.cuMemGetAddressRange_v2 &&
                    sc_real.cuMemGetAddressRange_v2(&base, &size_bytes, address) == CUDA_SUCCESS;
    return is_known ? (uintptr_t)base : address;
}

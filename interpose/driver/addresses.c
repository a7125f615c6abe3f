#include "interpose/driver/addresses.h"

#include "interpose/base/spare_stack.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"

#include "track/poison.h"

struct question {
    CUdeviceptr address;
    unsigned type;
    CUresult answer;
};

static void ask(void *argument)
{
    struct question *question = argument;
    question->answer = sc_real.cuPointerGetAttribute(
        &question->type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, question->address);
}

static struct question asked(CUdeviceptr address)
{
    struct question question = {.address = address};
    sc_spare_stack_call_driver(ask, &question);
    return question;
}

bool sc_address_is_device(CUdeviceptr address)
{
    if (!sc_real.cuPointerGetAttribute)
        return false;
    struct question question = asked(address);
    return question.answer == CUDA_SUCCESS && question.type == CU_MEMORYTYPE_DEVICE;
}

bool sc_address_is_pageable(CUdeviceptr address)
{
    return sc_real.cuPointerGetAttribute && asked(address).answer != CUDA_SUCCESS;
}

uintptr_t sc_address_base(uintptr_t address)
{
    CUdeviceptr base = 0;
    size_t size_bytes = 0;
    struct sc_relaxed relaxed = sc_relaxed_begin();
    bool is_known = sc_real.cuMemGetAddressRange_v2 &&
                    sc_real.cuMemGetAddressRange_v2(&base, &size_bytes, address) == CUDA_SUCCESS;
    sc_relaxed_end(&relaxed);
    return is_known ? (uintptr_t)base : address;
}

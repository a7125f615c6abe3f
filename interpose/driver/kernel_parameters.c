#include "interpose/driver/kernel_parameters.h"

#include <string.h>

#include "interpose/driver/relaxed.h"

#include "track/poison.h"

enum { PARAMETERS_MAX = 4096 };

/* Below lies nothing, and above nothing that a process maps. */
static const uintptr_t lowest = (uintptr_t)1 << 16;
static const uintptr_t highest = (uintptr_t)1 << 56;

static void take_words(struct sc_kernel_parameters *read, const char *bytes, size_t size_bytes)
{
    for (; size_bytes >= sizeof(uintptr_t); size_bytes -= sizeof(uintptr_t)) {
        uintptr_t word;
        memcpy(&word, bytes, sizeof word);
        bytes += sizeof word;
        if (word < lowest || word >= highest)
            continue;
        if (read->count == SC_KERNEL_ADDRESSES_MAX) {
            read->is_known = false;
            return;
        }
        read->addresses[read->count++] = word;
    }
}

/* A launch names a kernel by a handle of either kind. */
static CUresult ask(CUfunction function, size_t index, size_t *offset, size_t *size_bytes)
{
    CUresult result = CUDA_ERROR_NOT_FOUND;
    if (sc_real.cuFuncGetParamInfo)
        result = sc_real.cuFuncGetParamInfo(function, index, offset, size_bytes);
    if ((result == CUDA_ERROR_NOT_FOUND || result == CUDA_ERROR_INVALID_HANDLE) &&
        sc_real.cuKernelGetParamInfo)
        result = sc_real.cuKernelGetParamInfo((CUkernel)function, index, offset, size_bytes);
    return result;
}

/* Parameters in one block, as `extra` hands them over. */
struct block {
    const char *bytes;
    size_t size_bytes;
};

static struct block block_of(void *const *extra)
{
    struct block block = {0};
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            block.bytes = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            block.size_bytes = *(const size_t *)extra[1];
        else
            break;
    }
    return block;
}

static void take(struct sc_kernel_parameters *read, const struct sc_launch *launch)
{
    struct block block =
        !launch->parameters && launch->extra ? block_of(launch->extra) : (struct block){0};
    size_t offset, size_bytes, index = 0;
    CUresult result = CUDA_SUCCESS;
    for (; read->is_known && index < PARAMETERS_MAX; index++) {
        result = ask(launch->function, index, &offset, &size_bytes);
        if (result != CUDA_SUCCESS)
            break;
        if (launch->parameters)
            take_words(read, launch->parameters[index], size_bytes);
        else if (block.bytes && offset <= block.size_bytes &&
                 size_bytes <= block.size_bytes - offset)
            take_words(read, block.bytes + offset, size_bytes);
        else
            read->is_known = false;
    }
    read->is_known = read->is_known && result == CUDA_ERROR_INVALID_VALUE; /* behind the last */
}

void sc_kernel_parameters_read(struct sc_kernel_parameters *read, const struct sc_launch *launch)
{
    struct sc_relaxed relaxed = sc_relaxed_begin();
    read->count = 0;
    read->is_known = true;
    take(read, launch);
    sc_relaxed_end(&relaxed);
}

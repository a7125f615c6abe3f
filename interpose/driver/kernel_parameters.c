#include "interpose/driver/kernel_parameters.h"

#include <string.h>

#include "common/peek.h"
#include "common/uncancelled.h"
#include "interpose/driver/relaxed.h"

#include "common/poison.h"

enum { PARAMETERS_MAX = 4096, BLOCK_BYTES_MAX = 32764, WORDS_AT_ONCE = 32 };

/* No process maps memory below the first of these, or from the second on. */
static const uintptr_t lowest_address = (uintptr_t)1 << 16;
static const uintptr_t highest_address = (uintptr_t)1 << 56;

/* Copies what the launch's arguments point to. Before the driver has accepted the launch the
 * pointers may be wrong: then the memory is read in a way that cannot fault. False: it cannot be
 * read. */
static bool copy_in(const struct sc_launch *launch, void *into, const void *from, size_t size_bytes)
{
    if (!launch->is_accepted)
        return sc_peek_anyhow(into, (uintptr_t)from, size_bytes);
    memcpy(into, from, size_bytes);
    return true;
}

/* Adds the word if it may be an address of memory; no memory lies below lowest_address or from
 * highest_address on. If there are too many, the list is incomplete (is_known). */
static void add_word(struct sc_kernel_parameters *read, uintptr_t word)
{
    if (word < lowest_address || word >= highest_address)
        return;
    if (read->count < SC_KERNEL_ADDRESSES_MAX)
        read->addresses[read->count++] = word;
    else
        read->is_known = false;
}

/* Adds all aligned words of a parameter, or of several, that may be addresses: the driver does not
 * say which are. Ends once the list is incomplete, since then it is of no use. */
static void add_words(struct sc_kernel_parameters *read, const struct sc_launch *launch,
                      const char *bytes, size_t size_bytes)
{
    uintptr_t words[WORDS_AT_ONCE];
    for (size_t left = size_bytes / sizeof *words; left > 0 && read->is_known;) {
        size_t count = left < WORDS_AT_ONCE ? left : WORDS_AT_ONCE;
        read->is_known = copy_in(launch, words, bytes, count * sizeof *words);
        for (size_t i = 0; i < count && read->is_known; i++)
            add_word(read, words[i]);
        bytes += count * sizeof *words;
        left -= count;
    }
}

/* Asks the driver where a kernel's parameter lies. The program may name the kernel by a CUfunction
 * or a CUkernel, and nothing shows which: what the first question refuses is asked as the other. */
static CUresult ask_parameter(CUfunction function, size_t index, size_t *offset, size_t *size_bytes)
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

/* Finds the block of parameters that a launch passes in `extra`: a list of names and values that
 * CU_LAUNCH_PARAM_END ends. An unknown name ends it, too, since its meaning is not known. */
static struct block block_of(const struct sc_launch *launch)
{
    struct block block = {0};
    void *pair[2];
    for (void *const *at = launch->extra; copy_in(launch, pair, at, sizeof pair[0]); at += 2) {
        bool is_bytes = pair[0] == CU_LAUNCH_PARAM_BUFFER_POINTER;
        bool is_size = pair[0] == CU_LAUNCH_PARAM_BUFFER_SIZE;
        if ((!is_bytes && !is_size) || !copy_in(launch, pair, at, sizeof pair))
            break;
        if (is_bytes)
            block.bytes = pair[1];
        else if (!copy_in(launch, &block.size_bytes, pair[1], sizeof block.size_bytes))
            break;
    }
    return block;
}

/* Adds the words of the parameter of this index, for a launch that passes a pointer to each
 * parameter. */
static void add_parameter(struct sc_kernel_parameters *read, const struct sc_launch *launch,
                          size_t index, size_t size_bytes)
{
    void *parameter;
    if (copy_in(launch, &parameter, launch->parameters + index, sizeof parameter))
        add_words(read, launch, parameter, size_bytes);
    else
        read->is_known = false;
}

/* Adds all words of the block of parameters, since this driver says nothing about single ones. A
 * launch without such a block is not known: nothing says where its parameters end. */
static void add_block(struct sc_kernel_parameters *read, const struct sc_launch *launch,
                      struct block block)
{
    read->is_known = block.bytes && block.size_bytes <= BLOCK_BYTES_MAX;
    if (read->is_known)
        add_words(read, launch, block.bytes, block.size_bytes);
}

/* Adds the words of each parameter, of those that the driver describes: from the launch's pointer
 * to it, or from the block in which all lie. The driver refuses the index behind the last one with
 * CUDA_ERROR_INVALID_VALUE; any other end leaves the list incomplete. */
static void add_parameters(struct sc_kernel_parameters *read, const struct sc_launch *launch,
                           struct block block)
{
    size_t offset, size_bytes, index = 0;
    CUresult result = CUDA_SUCCESS;
    for (; read->is_known && index < PARAMETERS_MAX; index++) {
        result = ask_parameter(launch->function, index, &offset, &size_bytes);
        if (result != CUDA_SUCCESS)
            break;
        if (launch->parameters)
            add_parameter(read, launch, index, size_bytes);
        else if (block.bytes && offset <= block.size_bytes &&
                 size_bytes <= block.size_bytes - offset)
            add_words(read, launch, block.bytes + offset, size_bytes);
        else
            read->is_known = false;
    }
    read->is_known = read->is_known && result == CUDA_ERROR_INVALID_VALUE;
}

/* Stores the words among a launch's parameters that may be addresses: the memory that the kernel
 * may use. The driver is asked in relaxed mode, since it would break a capture otherwise. */
void sc_kernel_parameters_read(struct sc_kernel_parameters *read, const struct sc_launch *launch)
{
    SC_NO_CANCELLATION_POINT();
    SC_RELAXED();
    read->count = 0;
    read->is_known = true;
    struct block block =
        !launch->parameters && launch->extra ? block_of(launch) : (struct block){0};
    if (sc_real.cuFuncGetParamInfo || sc_real.cuKernelGetParamInfo)
        add_parameters(read, launch, block);
    else
        add_block(read, launch, block);
}

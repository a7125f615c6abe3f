/* For the twins whose streams tell the host by words: what a stream writes, and the host polls. */
#ifndef SC_TESTS_HAZARD_SIGNALS_H
#define SC_TESTS_HAZARD_SIGNALS_H

#include "values.h"

#include "tests/spinning_kernel.h"

/* A word that the stream writes, by itself or as a batch of operations. */
static inline void write_word(volatile uint32_t *word, uint32_t value, CUstream stream)
{
    CHECK(cuStreamWriteValue32(stream, (CUdeviceptr)(uintptr_t)word, value, 0));
}

static inline void write_by_batch(volatile uint32_t *word, uint32_t value, CUstream stream)
{
    CUstreamBatchMemOpParams write = value_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, word, value);
    CHECK(cuStreamBatchMemOp(stream, 1, &write, 0));
}

/* To be loaded before a stream is held up: a GPU takes longer for that than the stream is held. */
static inline CUfunction load_spin(void)
{
    static CUfunction kernel;
    CUmodule module = NULL;
    if (!kernel) {
        CHECK(cuModuleLoadData(&module, spinning_kernel_text));
        CHECK(cuModuleGetFunction(&kernel, module, "spin"));
    }
    return kernel;
}

/* Work behind a signal: that what stands before it is complete cannot be told by the stream. */
static inline void spin_behind(CUstream stream)
{
    unsigned long long kernel_ns = BUSY_US * 1000ULL;
    void *parameters[] = {&kernel_ns};
    CHECK(cuLaunchKernel(load_spin(), 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

/* Reads what was set, in a stream of its own. It is there when the context is synchronised. */
static inline const unsigned char *download(CUdeviceptr from)
{
    unsigned char *to = (unsigned char *)driver_pinned_block(SMALL, 0);
    CHECK(cuMemcpyDtoHAsync(to, from, SMALL, driver_new_stream()));
    return to;
}

static TWIN_HELPER bool is_all(const unsigned char *bytes, unsigned char value)
{
    for (size_t i = 0; i < SMALL; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

/* The same, waited for. */
static inline bool download_is(CUdeviceptr from, unsigned char value)
{
    CUstream stream = driver_new_stream();
    unsigned char *to = (unsigned char *)driver_pinned_block(SMALL, 0);
    CHECK(cuMemcpyDtoHAsync(to, from, SMALL, stream));
    CHECK(cuStreamSynchronize(stream));
    return is_all(to, value);
}

#endif

/* Rows of a table of answers about memory, `question | call | variant | answer`, and what their
 * questions ask with. A part of conformance_virtual.c, conformance_memory.c and
 * conformance_settings.c. */
#ifndef SC_TESTS_GPU_MEMORY_ROWS_H
#define SC_TESTS_GPU_MEMORY_ROWS_H

#include "asking.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BUSY_MS = 100 };

#include "held_up.h"

__attribute__((format(printf, 3, 4))) static void row(const char *call, const char *variant,
                                                      const char *format, ...)
{
    char answer[256];
    va_list args;
    va_start(args, format);
    vsnprintf(answer, sizeof answer, format, args);
    va_end(args);
    say("%s | %s | %s | %s\n", asked(), call, variant, answer);
}

/* The call's result is the answer. */
#define ROW(name, variant, call) row(name, variant, "%d", (int)(call))

/* Bytes that the device has lent since, in MB: the driver backs memory by 2 MB. */
static size_t free_before;

static inline void from_here(void)
{
    size_t total = 0;
    TRY(cuMemGetInfo(&free_before, &total));
}

static inline long taken_mb(void)
{
    size_t now = 0, total = 0;
    TRY(cuMemGetInfo(&now, &total));
    return ((long)free_before - (long)now) / (long)MB;
}

static inline void row_taken(const char *when)
{
    row("cuMemGetInfo", when, "%ld MB", taken_mb());
}

/* ---- virtual memory ---- */

#define G (2 * MB) /* the granularity, which `granularity` tells */

static inline CUmemAllocationProp on_device(CUmemAllocationHandleType shared_as)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .requestedHandleTypes = shared_as,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
}

static inline CUmemGenericAllocationHandle physical(size_t bytes)
{
    CUmemGenericAllocationHandle handle = 0;
    CUmemAllocationProp prop = on_device(CU_MEM_HANDLE_TYPE_NONE);
    TRY(cuMemCreate(&handle, bytes, &prop, 0));
    return handle;
}

static inline CUdeviceptr addresses(size_t bytes)
{
    CUdeviceptr at = 0;
    TRY(cuMemAddressReserve(&at, bytes, 0, 0, 0));
    return at;
}

static inline CUresult give_access(CUdeviceptr at, size_t bytes)
{
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, device},
                              CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return cuMemSetAccess(at, bytes, &access, 1);
}

/* Addresses with memory behind them, whose handle is released. */
static inline CUdeviceptr mapped(size_t bytes)
{
    CUmemGenericAllocationHandle handle = physical(bytes);
    CUdeviceptr at = addresses(bytes);
    TRY(cuMemMap(at, bytes, 0, handle, 0));
    TRY(give_access(at, bytes));
    TRY(cuMemRelease(handle));
    return at;
}

static inline unsigned byte_at(CUdeviceptr at)
{
    unsigned char byte = 0xee;
    TRY(cuMemcpyDtoH(&byte, at, 1));
    return byte;
}

/* ---- waits ---- */

static CUstream stream;

/* The stream is held up, and a copy behind that is to read the memory. */
static inline void read_late(CUdeviceptr from)
{
    static void *pinned;
    if (!pinned)
        TRY(cuMemAllocHost(&pinned, MB));
    TRY(cuLaunchHostFunc(stream, hold_up, NULL));
    if (from)
        TRY(cuMemcpyDtoHAsync(pinned, from, 4096, stream));
}

/* "0 blocks": what holds the stream up was over when the call returned. */
#define ROW_WAITS(name, variant, call)                                                             \
    do {                                                                                           \
        unsigned over_before_ = over;                                                              \
        CUresult rc_ = (call);                                                                     \
        row(name, variant, "%d %s", (int)rc_, waited(over_before_));                               \
    } while (0)

/* `call` while another stream captures, in the strictest mode: its result / that of the end. */
#define ROW_CAPTURED(name, call)                                                                   \
    do {                                                                                           \
        CUgraph graph_ = NULL;                                                                     \
        TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));                          \
        CUresult rc_ = (call);                                                                     \
        row(name, "while a stream captures", "%d/%d", (int)rc_,                                    \
            (int)cuStreamEndCapture(stream, &graph_));                                             \
        if (graph_)                                                                                \
            TRY(cuGraphDestroy(graph_));                                                           \
    } while (0)

static CUresult set_up(void)
{
    CUresult rc = enter_primary();
    if (rc == CUDA_SUCCESS)
        stream = new_stream(CU_STREAM_NON_BLOCKING);
    return rc;
}

#endif

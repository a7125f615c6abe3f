// expect: SC302 action=rerouted certainty=observed event=cu*
//
// While a stream captures, limits, the cache and shared memory of the context, advice on managed
// memory and an attribute of it are set, it is attached to another stream, the profiler started and
// stopped, and a library unloaded. No capture permits any of these calls.
#include "capture.h"

#include <cudaProfiler.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* cuCtxSetSharedMemConfig */

struct things {
    CUdeviceptr managed;
    CUstream other;
    CUlibrary library;
};

static void set(const struct things *t)
{
    const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    const int yes = 1;
    TRY(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20));
    TRY(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 2 << 20));
    TRY(cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64));
    TRY(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_SHARED));
    TRY(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
    TRY(cuMemAdvise(t->managed, SMALL, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    TRY(cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, t->managed));
    TRY(cuStreamAttachMemAsync(t->other, t->managed, 0, CU_MEM_ATTACH_SINGLE));
    TRY(cuProfilerStart());
    TRY(cuProfilerStop());
    TRY(cuLibraryUnload(t->library));
}

static struct things new_things(void)
{
    static const char code[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry nothing() { ret; }\n";
    struct things made = {.other = driver_new_stream()};
    CHECK(cuMemAllocManaged(&made.managed, SMALL, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuLibraryLoadData(&made.library, code, NULL, NULL, 0, NULL, NULL, 0));
    return made;
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    const struct things things = new_things();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);

    if (fixed)
        set(&things);
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (!fixed)
        set(&things);
    TRY(cuMemcpyDtoDAsync(to, from, SMALL, stream));

    driver_replay(driver_end_capture(stream, 1), stream);
    return finish(!broken && driver_device_holds(to, SMALL, WANTED));
}

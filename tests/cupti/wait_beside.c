// run: cupti=off -> #hazards=0
// timeout: 20
/* While the driver makes a stream wait for a kernel, another thread records an event on that stream
 * and waits for the event. What the host has heard is then nothing of the kernel: a copy behind it
 * takes what the kernel has written. The program keeps the first thread inside of the driver. */
#include "profiler.h"
#include "tests/copying_kernel.h"
#include "tests/spinning_kernel.h"

#include <pthread.h>

enum { SPIN_NS = 50 * 1000 * 1000, OLD = 1, NEW = 2 };

static CUcontext context;
static CUstream writing, waiting;
static CUevent written, before;

static void *record_and_wait(void *unused)
{
    CUDA(cuCtxSetCurrent(context));
    CUDA(cuEventRecord(before, waiting));
    CUDA(cuEventSynchronize(before));
    return unused;
}

static void CUPTIAPI keep(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void *about)
{
    const CUpti_CallbackData *call = about;
    pthread_t other;
    (void)user, (void)domain, (void)id;
    if (call->callbackSite != CUPTI_API_ENTER)
        return;
    CHECK(pthread_create(&other, NULL, record_and_wait, NULL) == 0);
    CHECK(pthread_join(other, NULL) == 0);
    atomic_fetch_add(&profiler.heard, 1);
}

static CUfunction load(const char *text, const char *name)
{
    CUmodule module;
    CUfunction function;
    CUDA(cuModuleLoadData(&module, text));
    CUDA(cuModuleGetFunction(&function, module, name));
    return function;
}

/* Has the stream write the pinned memory a while from now. */
static void write_late(CUfunction spin, CUfunction copy_bytes, void *to, CUdeviceptr from)
{
    unsigned long long ns = SPIN_NS;
    unsigned count = BYTES;
    void *of_spin[] = {&ns}, *of_copy[] = {&to, &from, &count};
    CUDA(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, writing, of_spin, NULL));
    CUDA(cuLaunchKernel(copy_bytes, BYTES / 256, 1, 1, 256, 1, 1, 0, writing, of_copy, NULL));
    CUDA(cuEventRecord(written, writing));
}

static void listen_to_waits(void)
{
    profiler_load();
    CHECK(profiler.subscribe(&profiler.handle, keep, NULL) == CUPTI_SUCCESS);
    CHECK(profiler.enable(1, profiler.handle, CUPTI_CB_DOMAIN_DRIVER_API,
                          CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent) == CUPTI_SUCCESS);
}

int main(void)
{
    CUdeviceptr from, to;
    unsigned char result = 0;
    set_up();
    CUDA(cuCtxGetCurrent(&context));
    CUDA(cuStreamCreate(&writing, CU_STREAM_NON_BLOCKING));
    CUDA(cuStreamCreate(&waiting, CU_STREAM_NON_BLOCKING));
    CUDA(cuEventCreate(&written, CU_EVENT_DISABLE_TIMING));
    CUDA(cuEventCreate(&before, CU_EVENT_DISABLE_TIMING));
    CUfunction spin = load(spinning_kernel_text, "spin");
    CUfunction copy_bytes = load(copying_kernel_text, "copy_bytes");
    CUDA(cuMemAlloc(&from, BYTES));
    CUDA(cuMemAlloc(&to, BYTES));
    CUDA(cuMemsetD8(from, NEW, BYTES));
    memset(pinned, OLD, BYTES);
    listen_to_waits();

    write_late(spin, copy_bytes, pinned, from);
    CUDA(cuStreamWaitEvent(waiting, written, 0));
    CUDA(cuMemcpyHtoDAsync(to, pinned, BYTES, waiting));
    CUDA(cuStreamSynchronize(waiting));
    CUDA(cuMemcpyDtoH(&result, to, 1));
    CHECK(profiler.heard == 1);
    CHECK(result == NEW);
    profiler_end();
    return 0;
}

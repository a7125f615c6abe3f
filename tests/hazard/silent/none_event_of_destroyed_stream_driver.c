// expect: none
//
// A kernel writes the source of a copy in place. The copy waits for the kernel by an event, whose
// stream has been destroyed meanwhile: another one has come in its place, with nothing to do or
// with work of its own.
#include "kernel.h"

enum { SMALL_COPY = 4096, TIMES = 4 };

static CUfunction kernel;

static void launch_small(CUdeviceptr to, CUdeviceptr from, CUstream stream)
{
    unsigned count = SMALL_COPY;
    void *parameters[] = {&to, &from, &count};
    CHECK(cuLaunchKernel(kernel, SMALL_COPY / 256, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
}

static bool is_right(bool works, CUstream stream)
{
    void *source = driver_pinned_block(SMALL_COPY, FOREIGN);
    CUdeviceptr written = driver_device_block(SMALL_COPY, WANTED);
    CUdeviceptr target = driver_device_block(SMALL_COPY, 0);
    CUstream former = driver_new_stream();
    CUevent event = NULL;

    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    launch_small(address_of(source), written, former);
    CHECK(cuEventRecord(event, former));
    CHECK(cuStreamDestroy(former));
    CUstream next = driver_new_stream();
    if (works)
        launch_small(target, target, next);
    CHECK(cuStreamWaitEvent(stream, event, 0));
    if (works) {
        CHECK(cuEventRecord(event, next));
        CHECK(cuStreamWaitEvent(stream, event, 0));
    }
    CHECK(cuMemcpyHtoDAsync(target, source, SMALL_COPY, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuStreamDestroy(next));
    return driver_device_holds(target, SMALL_COPY, WANTED);
}

int main(void)
{
    driver_start();
    bool right = true;
    CUstream stream = driver_new_stream();
    kernel = copying_kernel();
    for (int i = 0; i < TIMES; i++)
        right &= is_right(i % 2, stream);
    return finish(right);
}

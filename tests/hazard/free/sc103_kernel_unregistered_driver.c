// expect: SC103 action=stalled kind=registered certainty=observed direction=none
// options: kernels=order
// needs: preload
//
// Memory is unregistered while a kernel that has its address is still to read it. The kernel is
// launched with a configuration, and its parameters are in one block.
#include "kernel.h"

#include <stddef.h>

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    CUdeviceptr result = driver_device_block(SMALL, 0);
    void *input = driver_registered_block(SMALL, WANTED);
    struct {
        CUdeviceptr to, from;
        unsigned count;
    } block = {result, address_of(input), (unsigned)SMALL};
    size_t block_bytes = offsetof(__typeof__(block), count) + sizeof block.count;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &block_bytes, CU_LAUNCH_PARAM_END};
    CUlaunchConfig config = {.gridDimX = block.count / 256,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 256,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = stream};

    driver_busy(stream);
    CHECK(cuLaunchKernelEx(&config, kernel, NULL, extra));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemHostUnregister(input));
    fill(input, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED));
}

// expect: none
// options: kernels=report
// needs: preload
//
// A kernel that is launched with its parameters in one block writes the source of a small copy that
// it comes behind. Where they lie in the block, drivers before CUDA 12.4 do not say.
#include "kernel.h"

enum { SOURCE_BYTES = 4096 };

/* The copying kernel's parameters. */
struct block {
    CUdeviceptr to, from;
    unsigned count;
};

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    CUdeviceptr to = driver_device_block(SMALL, 0), result = driver_device_block(SMALL, FOREIGN);
    void *source = driver_pinned_block(SMALL, WANTED);
    struct block block = {address_of(source), result, (unsigned)SMALL};
    size_t size_bytes = offsetof(struct block, count) + sizeof block.count;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &size_bytes, CU_LAUNCH_PARAM_END};

    CHECK(cuMemcpyHtoDAsync(to, source, SOURCE_BYTES, stream));
    CHECK(cuLaunchKernel(kernel, block.count / 256, 1, 1, 256, 1, 1, 0, stream, NULL, extra));
    CHECK(cuStreamSynchronize(stream));
    return finish(driver_device_holds(to, SOURCE_BYTES, WANTED) && holds(source, SMALL, FOREIGN));
}

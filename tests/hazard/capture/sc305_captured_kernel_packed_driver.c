// expect: SC305 action=reported kind=device certainty=latent event=cuMemsetD32Async direction=none
//
// The same of a kernel by its CUkernel, whose parameters are handed over in one block.
#include "left_out.h"

struct packed {
    CUdeviceptr to, from;
    unsigned count;
};

static CUfunction kernel_of_library(void)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CHECK(cuLibraryLoadData(&library, copying_kernel_text, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&kernel, library, "copy_bytes"));
    return (CUfunction)kernel;
}

int main(void)
{
    driver_start();
    CUfunction kernel = kernel_of_library();
    CUstream stream = driver_new_stream();
    CUdeviceptr terms = driver_device_block(SMALL, WANTED);
    CUdeviceptr sum = driver_device_block(SMALL, 0);
    CUdeviceptr before = driver_device_block(SMALL, 0);
    struct packed packed = {before, sum, (unsigned)SMALL};
    size_t size = offsetof(struct packed, count) + sizeof packed.count; /* without padding */
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemsetD32Async(sum, 0, SMALL / 4, fixed ? stream : NULL));
    CHECK(cuLaunchKernel(kernel, packed.count / 256, 1, 1, 256, 1, 1, 0, stream, NULL, extra));
    launch_copy(kernel, sum, terms, stream);
    CUgraphExec exec = driver_end_capture(stream, fixed ? 3 : 2);

    CHECK(cuCtxSynchronize());
    driver_replay(exec, stream);
    driver_replay(exec, stream);
    return finish(!broken && driver_device_holds(before, SMALL, WANTED) == !fixed);
}

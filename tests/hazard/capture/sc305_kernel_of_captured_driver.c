// expect: SC305 action=reported kind=device certainty=latent event=cuLaunchKernel direction=H2D
//
// A kernel on the legacy stream uses what a captured copy has still to upload.
#include "left_out.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    void *source = driver_pinned_block(SMALL, WANTED);
    CUdeviceptr input = driver_device_block(SMALL, FOREIGN);
    CUdeviceptr result = driver_device_block(SMALL, 0);

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyHtoDAsync(input, source, SMALL, stream));
    launch_copy(kernel, result, input, fixed ? stream : NULL);
    CUgraphExec exec = driver_end_capture(stream, fixed ? 2 : 1);

    CHECK(cuCtxSynchronize());
    driver_replay(exec, stream);
    return finish(!broken && driver_device_holds(result, SMALL, fixed ? WANTED : FOREIGN));
}

// expect: SC305 action=reported certainty=latent event=cuMemcpyHtoDAsync_v2 direction=none
//
// A captured kernel reads what an upload on the legacy stream wrote once. Of the kernel its
// parameters tell.
#include "left_out.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    void *source = driver_pinned_block(SMALL, WANTED);
    CUdeviceptr input = driver_device_block(SMALL, 0);
    CUdeviceptr result = driver_device_block(SMALL, 0);

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyHtoDAsync(input, source, SMALL, fixed ? stream : NULL));
    launch_copy(kernel, result, input, stream);
    CUgraphExec exec = driver_end_capture(stream, fixed ? 2 : 1);

    CHECK(cuCtxSynchronize());
    driver_replay(exec, stream);
    fill(source, SMALL, NEXT);
    driver_replay(exec, stream);
    return finish(!broken && driver_device_holds(result, SMALL, fixed ? NEXT : WANTED));
}

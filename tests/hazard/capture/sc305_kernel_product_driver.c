// expect: SC305 action=reported kind=device certainty=latent event=cuLaunchKernel direction=D2H
//
// A kernel on the legacy stream makes what a captured copy downloads: each launch downloads the
// same.
#include "left_out.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    void *seen = driver_pinned_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, NEXT);
    CUdeviceptr input = driver_device_block(SMALL, WANTED);
    CUdeviceptr product = driver_device_block(SMALL, 0);

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch_copy(kernel, product, input, fixed ? stream : NULL);
    CHECK(cuMemcpyDtoHAsync(seen, product, SMALL, stream));
    CUgraphExec exec = driver_end_capture(stream, fixed ? 2 : 1);

    CHECK(cuCtxSynchronize());
    driver_replay(exec, stream);
    bool first = holds(seen, SMALL, WANTED);
    CHECK(cuMemcpyHtoDAsync(input, source, SMALL, stream));
    driver_replay(exec, stream);
    return finish(!broken && first && holds(seen, SMALL, fixed ? NEXT : WANTED));
}

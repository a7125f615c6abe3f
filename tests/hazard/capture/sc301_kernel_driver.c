// expect: SC301 action=rerouted certainty=observed event=cuLaunchKernel
//
// A kernel on the legacy stream instead of one of its own, while a blocking stream captures.
#include "capture.h"

static const char noop_source[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                                  ".visible .entry noop() { ret; }\n";

static CUresult launch(CUfunction kernel, CUstream stream)
{
    return cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

int main(void)
{
    CUmodule module = NULL;
    CUfunction noop = NULL;
    driver_start();
    CHECK(cuModuleLoadData(&module, noop_source));
    CHECK(cuModuleGetFunction(&noop, module, "noop"));
    CUstream stream = driver_blocking_stream();
    CUstream kernels = fixed ? driver_new_stream() : NULL;
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    CHECK(launch(noop, kernels)); /* once, since code is loaded lazily */
    CHECK(cuCtxSynchronize());

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TRY(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    TRY(launch(noop, kernels));
    CUgraphExec exec = driver_end_capture(stream, 1);

    CHECK(cuStreamSynchronize(kernels));
    driver_replay(exec, stream);
    return finish(!broken && driver_device_holds(to, SMALL, WANTED));
}

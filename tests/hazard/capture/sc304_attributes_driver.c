// expect: SC304 action=rerouted certainty=observed event=cuMemcpyWithAttributesAsync
// sim: driver=13020
// needs: sim
//
// A copy with attributes on a stream that captures, refused as a batch is.
#include "capture.h"
#include "newer.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, FOREIGN);
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (fixed)
        TRY(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    else
        TRY(NEWER(cuMemcpyWithAttributesAsync, 13020)(device, (CUdeviceptr)(uintptr_t)source, SMALL,
                                                      &attributes, stream));
    cudaGraphExec_t exec = end_capture(stream, 1);
    fill(source, SMALL, WANTED);
    replay(exec, stream);
    return finish(!broken && driver_device_holds(device, SMALL, WANTED));
}

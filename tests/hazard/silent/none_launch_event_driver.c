// expect: none
// options: device=1
//
// A second stream waits for an event that the launch of a kernel records itself, as one of the
// attributes of the launch, behind the copies of the first stream.
#include "kernel.h"

enum { WAYS = 2, TURNS = 3 };

static CUlaunchAttribute recording(CUlaunchAttributeID id, CUevent event)
{
    CUlaunchAttribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = id;
    if (id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
        attribute.value.programmaticEvent.event = event;
        attribute.value.programmaticEvent.triggerAtBlockStart = 1;
    } else {
        attribute.value.launchCompletionEvent.event = event;
    }
    return attribute;
}

int main(void)
{
    static const CUlaunchAttributeID ways[WAYS] = {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                                   CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};
    driver_start();
    CUstream first = driver_new_stream();
    CUstream second = driver_new_stream();
    CUfunction kernel = copying_kernel();
    CUdeviceptr image = driver_device_block(SMALL, WANTED);
    CUdeviceptr spare = driver_device_block(SMALL, 0);
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);
    CUdeviceptr up = driver_device_block(SMALL, 0);
    void *host = driver_pinned_block(SMALL, FOREIGN);
    void *source = driver_pinned_block(SMALL, WANTED);
    void *result = driver_pinned_block(SMALL, 0);
    unsigned count = (unsigned)SMALL;
    void *parameters[] = {&spare, &image, &count};
    bool right = true;

    for (unsigned i = 0; i < WAYS * TURNS; i++) {
        CUevent event = NULL;
        CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        CUlaunchAttribute attribute = recording(ways[i % WAYS], event);
        CUlaunchConfig config = {.gridDimX = count / 256,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 256,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .hStream = first,
                                 .attrs = &attribute,
                                 .numAttrs = 1};
        driver_busy(first);
        CHECK(cuMemcpyDtoHAsync(host, image, SMALL, first));
        CHECK(cuMemcpyHtoDAsync(device, source, SMALL, first));
        CHECK(cuLaunchKernelEx(&config, kernel, parameters, NULL));
        CHECK(cuStreamWaitEvent(second, event, 0));
        CHECK(cuMemcpyHtoDAsync(up, host, SMALL, second));
        CHECK(cuMemcpyDtoHAsync(result, device, SMALL, second));
        CHECK(cuEventDestroy(event));
        CHECK(cuStreamSynchronize(second));
        right = right && driver_device_holds(up, SMALL, WANTED) && holds(result, SMALL, WANTED);
        fill(host, SMALL, FOREIGN);
        CHECK(cuMemsetD8(device, 0, SMALL));
        CHECK(cuCtxSynchronize());
    }

    return finish(right);
}

// expect: SC101 action=deferred kind=registered certainty=observed
//
// One thread uses its default stream in context after context; the mistake is made in the last.
#include "twin_driver.h"

enum { CONTEXTS = 20 };

static CUcontext new_context(void)
{
    CUcontext context = NULL;
    CHECK(cuCtxCreate(&context, NULL, 0, 0));
    return context;
}

int main(void)
{
    driver_start();
    for (int i = 0; i < CONTEXTS; i++) {
        CUcontext context = new_context();
        CUdeviceptr device = driver_device_block(SMALL, 0);
        void *kept = driver_pinned_block(SMALL, FOREIGN);
        CHECK(cuMemcpyHtoDAsync(device, kept, SMALL, CU_STREAM_PER_THREAD));
        CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
        CHECK(cuCtxDestroy(context));
    }
    CUcontext last = new_context();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);

    driver_busy(CU_STREAM_PER_THREAD);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, CU_STREAM_PER_THREAD));
    if (fixed) {
        CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
        CHECK(cuMemHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    bool right = driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN);
    CHECK(cuCtxDestroy(last));
    return finish(right);
}

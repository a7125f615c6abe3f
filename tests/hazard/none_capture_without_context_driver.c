// expect: none
//
// While a stream captures, another thread, which has no context, frees nothing: the driver does not
// look at what captures then.
#include "capture.h"

static void *free_nothing(void *both)
{
    *(bool *)both = cuMemFree(0) == CUDA_SUCCESS && cuMemFreeHost(NULL) == CUDA_SUCCESS;
    return NULL;
}

int main(void)
{
    driver_start();
    pthread_t thread;
    bool both = false;
    CUstream stream = driver_new_stream();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    pthread_create(&thread, NULL, free_nothing, &both);
    pthread_join(thread, NULL);
    driver_replay(driver_end_capture(stream, 1), stream);
    return finish(both && !broken && driver_device_holds(to, SMALL, WANTED));
}

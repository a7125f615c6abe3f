// expect: SC303 action=rerouted certainty=observed event=cuMemFree_v2
//
// While a stream captures, another thread frees nothing. It has no context, which makes no
// difference: the driver refuses that like any other free.
#include "capture.h"

static void *free_nothing(void *unused)
{
    if (!fixed)
        TRY(cuMemFree(0));
    return unused;
}

int main(void)
{
    driver_start();
    pthread_t thread;
    CUstream stream = driver_new_stream();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    pthread_create(&thread, NULL, free_nothing, NULL);
    pthread_join(thread, NULL);
    driver_replay(driver_end_capture(stream, 1), stream);
    return finish(!broken && driver_device_holds(to, SMALL, WANTED));
}

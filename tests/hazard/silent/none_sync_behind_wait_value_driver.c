// expect: none
// options: stall_limit=60s
//
// A synchronous copy comes after a wait for a word in a blocking stream, which another thread
// writes when it has waited for the copy that brings the source.
#include "twin_driver.h"

#include <pthread.h>

struct work {
    CUstream stream;
    volatile uint32_t *go;
};

static void *let_go(void *argument)
{
    struct work *work = (struct work *)argument;
    usleep(BUSY_US / 2);
    CHECK(cuStreamSynchronize(work->stream));
    *work->go = 1;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    CUstream blocking = NULL;
    driver_start();
    struct work work = {driver_new_stream(), (volatile uint32_t *)driver_pinned_block(4096, 0)};
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    void *between = driver_pinned_block(SMALL, FOREIGN);
    CHECK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    *work.go = 0;

    driver_busy(work.stream);
    CHECK(cuMemcpyDtoHAsync(between, from, SMALL, work.stream));
    CHECK(cuStreamWaitValue32(blocking, (CUdeviceptr)(uintptr_t)work.go, 1,
                              CU_STREAM_WAIT_VALUE_GEQ));
    if (pthread_create(&thread, NULL, let_go, &work) != 0)
        return 3;
    CHECK(cuMemcpyHtoD(to, between, SMALL));

    pthread_join(thread, NULL);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(to, SMALL, WANTED));
}

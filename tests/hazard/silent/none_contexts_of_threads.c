// expect: none
// options: device=1
//
// Threads make and destroy contexts at once. The driver gives a handle, and pinned memory, to one
// thread that another thread's cuCtxDestroy has only just let go.
#include <pthread.h>
#include <time.h>

#include "twin_driver.h"

enum { THREADS = 6, ROUNDS = 60, COPIES = 3, SECONDS = 5 }; /* a real context takes 0.2 s */

static time_t deadline;

static void *registered_copy_target(void)
{
    void *target = NULL;
    if (posix_memalign(&target, 4096, SMALL) != 0)
        exit(3);
    memset(target, 0, SMALL);
    CHECK(cuMemHostRegister(target, SMALL, 0));
    return target;
}

static bool use_context(int round)
{
    CUcontext context = NULL;
    CUstream stream = NULL;
    CHECK(cuCtxCreate(&context, NULL, 0, 0));
    CHECK(cuStreamCreate(&stream, round % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, WANTED);
    void *target = registered_copy_target();
    for (int i = 0; i < COPIES; i++) {
        CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
        CHECK(cuMemcpyDtoHAsync(target, device, SMALL, stream));
    }
    if (round % 3 == 0) {
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemFreeHost(source));
        CHECK(cuMemHostUnregister(target));
    }
    CHECK(cuCtxDestroy(context));
    bool right = holds(target, SMALL, WANTED);
    free(target);
    return right;
}

static void *work(void *unused)
{
    bool right = true;
    (void)unused;
    for (int round = 0; round < ROUNDS && time(NULL) < deadline; round++)
        right = use_context(round) && right;
    return right ? unused : NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    bool right = true;
    driver_start();
    deadline = time(NULL) + SECONDS;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, &right) != 0)
            exit(3);
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        right = right && result;
    }
    return finish(right);
}

// expect: SC201 action=snapshotted kind=pinned
//
// Another thread retains and releases the primary context all the time, as libraries do. No release
// is the last one: small copies are issued from snapshots as ever.
#include "twin_driver.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ROUNDS = 20 };

static const size_t TINY = 4096;

static _Atomic bool stops;

static void *release_all_the_time(void *unused)
{
    CUcontext context = NULL;
    while (!atomic_load(&stops)) {
        CHECK(cuDevicePrimaryCtxRetain(&context, 0));
        CHECK(cuDevicePrimaryCtxRelease(0));
    }
    return unused;
}

/* The first small copy of a context is the one that makes room for snapshots. */
static bool copy_first(void)
{
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(TINY, 0);
    void *source = driver_pinned_block(TINY, WANTED);
    pthread_t thread;
    atomic_store(&stops, false);
    pthread_create(&thread, NULL, release_all_the_time, NULL);
    usleep(1000);
    CHECK(cuMemcpyHtoDAsync(device, source, TINY, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(source, TINY, FOREIGN);
    CHECK(cuStreamSynchronize(stream));
    atomic_store(&stops, true);
    pthread_join(thread, NULL);
    return driver_device_holds(device, TINY, WANTED);
}

int main(void)
{
    bool right = true;
    for (int i = 0; i < ROUNDS; i++) {
        driver_start();
        right = copy_first() && right;
        CHECK(cuDevicePrimaryCtxReset(0));
    }
    return finish(right);
}

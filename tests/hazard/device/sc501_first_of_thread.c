// expect: SC501 action=ordered kind=device origin=cuMemAlloc_v2 direction=memset
// options: device=1
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
//
// The first thing that a thread does in its default stream is to use what another thread's
// has still to fill.
#include "twin.h"

#include <pthread.h>

static void *device, *target;

static void *download(void *unused)
{
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, cudaStreamPerThread));
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    return unused;
}

int main(void)
{
    pthread_t thread;
    target = pinned_block(SMALL, 0);
    device = device_block(SMALL, FOREIGN);

    CHECK(cudaMemsetAsync(device, 7, SMALL, cudaStreamPerThread));
    if (fixed)
        CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    CHECK(pthread_create(&thread, NULL, download, NULL));
    CHECK(pthread_join(thread, NULL));

    CHECK(cudaDeviceSynchronize());
    return finish(((unsigned char *)target)[0] == 7);
}

// expect: SC202 action=stalled kind=pinned certainty=observed event=cuMemcpyHtoD_v2_ptds
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
// not-by: kernel threads ranges
//
// What one thread's default stream brings, another thread sends on its own.
#include "twin.h"

#include <pthread.h>

static void *bring(void *between)
{
    void *from = device_block(SMALL, WANTED);
    busy(0);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, 0));
    if (fixed)
        CHECK(cudaStreamSynchronize(0));
    return NULL;
}

int main(void)
{
    pthread_t thread;
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);

    if (pthread_create(&thread, NULL, bring, between) != 0 || pthread_join(thread, NULL) != 0)
        return 3;
    CHECK(cudaMemcpy(to, between, SMALL, cudaMemcpyHostToDevice));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}

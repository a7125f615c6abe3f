// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A consumer thread reads as soon as the copy has been issued. A thread that has never made a CUDA
// call, on a stack of 64 KB, with every signal blocked.
#include "touch.h"

#include <pthread.h>
#include <signal.h>

static bool right;

static void *consume(void *target)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    right = holds(target, SMALL, WANTED);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_attr_t small;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    if (pthread_create(&thread, &small, consume, target) != 0 || pthread_join(thread, NULL) != 0)
        return 3;

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}

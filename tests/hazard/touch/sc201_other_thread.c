// expect: SC201 action=stalled kind=pinned thread=refills origin=cuMem*
//
// One thread sends, another fills the buffer for the next turn. A thread that has never made a
// CUDA call, on a stack of 64 KB.
#include "touch.h"

#include <pthread.h>

static void *refill(void *source)
{
    pthread_setname_np(pthread_self(), "refills");
    poke(source, SMALL / 3);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_attr_t small;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    if (pthread_create(&thread, &small, refill, source) != 0 || pthread_join(thread, NULL) != 0)
        return 3;

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds_poked(source, SMALL, SMALL / 3));
}

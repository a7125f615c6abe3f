// expect: SC101 action=deferred kind=registered certainty=observed
//
// Established by another thread: it synchronises the stream, and this one joins it before it
// frees. In the racy build that thread synchronises its own stream.
#include "twin.h"

#include <pthread.h>

static void *synchronise(void *stream)
{
    CHECK(cudaStreamSynchronize((cudaStream_t)stream));
    return NULL;
}

int main(void)
{
    pthread_t thread;
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (pthread_create(&thread, NULL, synchronise, fixed ? stream : other) != 0)
        return 3;
    pthread_join(thread, NULL);
    if (fixed)
        CHECK(cudaHostUnregister(source));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}

// expect: SC203 action=stalled kind=pinned certainty=observed
//
// Another thread takes the buffer for its own while a copy is still to write it.
#include "touch.h"

#include <pthread.h>

static void *use(void *target)
{
    fill(target, SMALL, FOREIGN);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    if (pthread_create(&thread, NULL, use, target) != 0 || pthread_join(thread, NULL) != 0)
        return 3;

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, FOREIGN));
}

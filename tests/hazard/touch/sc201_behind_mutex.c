// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A buffer begins with its lock, and is overwritten in flight some pages behind it: the lock's page
// alone is not guarded.
#include "touch.h"

#include <pthread.h>

int main(void)
{
    const size_t behind = (size_t)64 << 10;
    cudaStream_t stream = new_stream();
    unsigned char *device = device_block(LARGE, 0);
    unsigned char *buffer = pinned_block(LARGE, WANTED);
    pthread_mutex_t *lock = (pthread_mutex_t *)(void *)buffer;
    CHECK(pthread_mutex_init(lock, NULL));
    CHECK(pthread_mutex_lock(lock));
    fill(buffer + behind, LARGE - behind, WANTED);
    CHECK(pthread_mutex_unlock(lock));

    busy(stream);
    CHECK(cudaMemcpyAsync(device, buffer, LARGE, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    memset(buffer + behind, 0xee, LARGE - behind);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device + behind, LARGE - behind, WANTED) && buffer[behind] == 0xee);
}

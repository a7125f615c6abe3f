// expect: SC201 action=stalled kind=pinned certainty=observed
//
// Eight threads refill a buffer together, each its own part: all meet the copy at once.
#include "touch.h"

#include <pthread.h>

enum { THREADS = 8 };

struct part {
    unsigned char *bytes;
    size_t size_bytes;
};

static void *refill(void *argument)
{
    struct part *part = (struct part *)argument;
    fill(part->bytes, part->size_bytes, FOREIGN);
    return NULL;
}

int main(void)
{
    const size_t size = LARGE / THREADS;
    pthread_t threads[THREADS];
    struct part parts[THREADS];
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    unsigned char *source = (unsigned char *)pinned_block(LARGE, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < THREADS; i++) {
        parts[i] = (struct part){source + (size_t)i * size, size};
        if (pthread_create(&threads[i], NULL, refill, &parts[i]) != 0)
            return 3;
    }
    bool right = true;
    for (int i = 0; i < THREADS; i++)
        right = pthread_join(threads[i], NULL) == 0 && right;
    for (int i = 0; i < THREADS; i++)
        right = right && holds(parts[i].bytes, size, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(right && device_holds(device, LARGE, WANTED));
}

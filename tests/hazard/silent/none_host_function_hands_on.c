// expect: none
// options: stall_limit=60s
//
// Before a copy in its stream there is a host function that has another thread fill the source, and
// waits for it: that thread's writes come before the copy, and none of them may wait for it.
#include "twin.h"

#include <pthread.h>
#include <semaphore.h>

static sem_t wanted, filled;
static unsigned char *source;

static void *fill_source(void *unused)
{
    for (unsigned i = 0; i < 2; i++) {
        sem_wait(&wanted);
        fill(source, LARGE, WANTED);
        sem_post(&filled);
    }
    return unused;
}

static void hand_on(void *unused)
{
    (void)unused;
    sem_post(&wanted);
    sem_wait(&filled);
}

int main(void)
{
    pthread_t thread;
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    bool right = true;
    source = pinned_block(LARGE, FOREIGN);
    sem_init(&wanted, 0, 0);
    sem_init(&filled, 0, 0);
    pthread_create(&thread, NULL, fill_source, NULL);

    for (unsigned i = 0; i < 2; i++) {
        if (i == 0)
            busy(stream);
        CHECK(cudaLaunchHostFunc(stream, hand_on, NULL));
        CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, stream));
        CHECK(cudaStreamSynchronize(stream));
        right = right && device_holds(device, LARGE, WANTED);
        fill(source, LARGE, FOREIGN);
    }

    pthread_join(thread, NULL);
    return finish(right);
}

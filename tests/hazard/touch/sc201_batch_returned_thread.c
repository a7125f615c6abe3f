// expect: SC201 action=snapshotted kind=stack certainty=latent
// sim: late_batch=1
//
// A thread sends a local and returns from the function, and never waits: another thread does. The
// frame is gone by then.
#include "batch.h"

#include <pthread.h>
#include <semaphore.h>

enum { BYTES = 500 };

static cudaStream_t stream;
static void *device;
static sem_t sent, waited;

static __attribute__((noinline)) void send(void)
{
    unsigned char local[BYTES];
    fill(local, BYTES, WANTED);
    batch_copy(device, local, BYTES, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed) {
        CHECK(sem_post(&sent));
        CHECK(sem_wait(&waited));
    }
}

static __attribute__((noinline)) void use_stack(void)
{
    volatile unsigned char bytes[4 * BYTES];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
}

static void *run(void *unused)
{
    (void)unused;
    send();
    if (!fixed) {
        use_stack();
        CHECK(sem_post(&sent));
        CHECK(sem_wait(&waited));
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    stream = new_stream();
    device = device_block(BYTES, 0);
    CHECK(sem_init(&sent, 0, 0));
    CHECK(sem_init(&waited, 0, 0));
    CHECK(pthread_create(&thread, NULL, run, NULL));

    CHECK(sem_wait(&sent));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(sem_post(&waited));
    CHECK(pthread_join(thread, NULL));
    return finish(device_holds(device, BYTES, WANTED));
}

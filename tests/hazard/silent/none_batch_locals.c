// expect: none
// sim: late_batch=1
//
// Locals that live until the stream has been waited for: by the function itself, by one that it
// calls, by its caller for a local of the caller's, turn by turn, and by another thread.
#include "batch.h"

#include <pthread.h>
#include <semaphore.h>

enum { BYTES = 300, TURNS = 10 };

static cudaStream_t stream;
static unsigned char *device;
static sem_t sent, waited;

static void send(const unsigned char *local, int turn)
{
    batch_copy(device + turn * BYTES, local, BYTES, cudaMemcpySrcAccessOrderStream, stream);
}

static __attribute__((noinline)) void wait_here(void)
{
    CHECK(cudaStreamSynchronize(stream));
}

static void send_and_wait(int turn)
{
    unsigned char local[BYTES];
    fill(local, BYTES, WANTED);
    send(local, turn);
    if (turn % 2)
        wait_here();
    else
        CHECK(cudaStreamSynchronize(stream));
}

static void *send_and_be_waited_for(void *unused)
{
    unsigned char local[BYTES];
    (void)unused;
    fill(local, BYTES, WANTED);
    send(local, TURNS);
    CHECK(sem_post(&sent));
    CHECK(sem_wait(&waited));
    fill(local, BYTES, FOREIGN);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    unsigned char own[BYTES];
    bool right = true;
    stream = new_stream();
    device = (unsigned char *)device_block((TURNS + 2) * BYTES, 0);

    for (int turn = 0; turn < TURNS; turn++)
        send_and_wait(turn);

    CHECK(sem_init(&sent, 0, 0));
    CHECK(sem_init(&waited, 0, 0));
    CHECK(pthread_create(&thread, NULL, send_and_be_waited_for, NULL));
    CHECK(sem_wait(&sent));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(sem_post(&waited));
    CHECK(pthread_join(thread, NULL));

    fill(own, BYTES, WANTED);
    send(own, TURNS + 1);
    wait_here();
    fill(own, BYTES, FOREIGN);

    for (int turn = 0; turn < TURNS + 2; turn++)
        right = right && device_holds(device + turn * BYTES, BYTES, WANTED);
    return finish(right);
}

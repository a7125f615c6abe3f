// expect: none
// sim: late=0:delay=20us
//
// Several threads share a stream and one event: each issues a copy, records the event, waits for it
// and touches its buffer. Another thread's record may come between. It is behind this thread's copy
// as well, on the same stream.
#include "twin.h"

#include <pthread.h>

enum { THREADS = 6, TURNS = 300 };

static cudaStream_t stream;
static cudaEvent_t event;

static void wait_for_own_work(int turn)
{
    CHECK(cudaEventRecord(event, stream));
    if (turn % 2 == 0)
        CHECK(cudaEventSynchronize(event));
    else
        while (cudaEventQuery(event) != cudaSuccess)
            ;
}

static void *work(void *wrong)
{
    unsigned char *host = pinned_block(SMALL, 0);
    unsigned char *device = (unsigned char *)device_block(SMALL, 0);
    bool right = true;
    for (int turn = 0; turn < TURNS; turn++) {
        fill(host, SMALL, (unsigned)turn);
        CHECK(cudaMemcpyAsync(device, host, SMALL, cudaMemcpyHostToDevice, stream));
        wait_for_own_work(turn);
        fill(host, SMALL, FOREIGN);
        CHECK(cudaMemcpyAsync(host, device, SMALL, cudaMemcpyDeviceToHost, stream));
        wait_for_own_work(turn + 1);
        right = right && holds(host, SMALL, (unsigned)turn);
    }
    return right ? NULL : wrong;
}

int main(void)
{
    pthread_t threads[THREADS];
    bool right = true;
    stream = new_stream();
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, &event));
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        CHECK(pthread_join(threads[i], &wrong));
        right = right && !wrong;
    }
    return finish(right);
}

// expect: SC201 kind=pinned
//
// Three threads upload blocks that are too large for a snapshot, unless that is cheaper than to
// guard them: again and again, and each thread waits for its copies. Then one of them refills its
// block too early, many times.
#include "touch.h"

#include <pthread.h>

enum { BLOCK = 64 << 10, THREADS = 3, ROUNDS = 100, RACY_ROUNDS = 40 };

struct worker {
    cudaStream_t stream;
    void *device, *source;
};

static struct worker make_worker(void)
{
    return (struct worker){new_stream(), device_block(BLOCK, 0), pinned_block(BLOCK, WANTED)};
}

static void *upload_often(void *argument)
{
    const struct worker *worker = (const struct worker *)argument;
    CHECK(cudaSetDevice(0));
    for (int i = 0; i < ROUNDS; i++) {
        fill(worker->source, BLOCK, i % 2 ? WANTED : FOREIGN);
        CHECK(cudaMemcpyAsync(worker->device, worker->source, BLOCK, cudaMemcpyHostToDevice,
                              worker->stream));
        CHECK(cudaStreamSynchronize(worker->stream));
    }
    return NULL;
}

static bool upload_and_refill(const struct worker *worker)
{
    fill(worker->source, BLOCK, WANTED);
    CHECK(cudaMemcpyAsync(worker->device, worker->source, BLOCK, cudaMemcpyHostToDevice,
                          worker->stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(worker->stream));
    fill(worker->source, BLOCK, FOREIGN);
    CHECK(cudaStreamSynchronize(worker->stream));
    return device_holds(worker->device, BLOCK, WANTED);
}

int main(void)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    bool right = true;

    for (int t = 0; t < THREADS; t++)
        workers[t] = make_worker();
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, upload_often, &workers[t]));
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_join(threads[t], NULL));
    for (int i = 0; i < RACY_ROUNDS; i++)
        right &= upload_and_refill(&workers[0]);
    return finish(right && holds(workers[0].source, BLOCK, FOREIGN));
}

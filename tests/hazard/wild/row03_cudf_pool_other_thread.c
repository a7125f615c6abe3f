// expect: SC201 kind=pinned
//
// docs/wild-bugs.md, row 3: staging went from pageable memory, which the call itself had read, to
// blocks of a pinned pool. They still go back as soon as the call returns, and another thread, with
// a stream of its own, gets the block for its column pointers.
#include "touch.h"

#include <pthread.h>

static void *block;
static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;

static void send(void *device, unsigned seed)
{
    cudaStream_t stream = new_stream();
    busy(stream);
    pthread_mutex_lock(&pool);
    fill(block, SMALL, seed);
    CHECK(cudaMemcpyAsync(device, block, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    pthread_mutex_unlock(&pool);
}

static void *other_reader(void *device)
{
    send(device, FOREIGN);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    void *mine = device_block(SMALL, 0);
    void *others = device_block(SMALL, 0);
    block = pinned_block(SMALL, 0);

    send(mine, WANTED);
    if (pthread_create(&thread, NULL, other_reader, others) != 0)
        return 3;
    pthread_join(thread, NULL);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(mine, SMALL, WANTED) && device_holds(others, SMALL, FOREIGN));
}

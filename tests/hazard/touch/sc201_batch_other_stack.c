// expect: SC201 action=snapshotted kind=pageable
//
// A thread sends a large local of the one that started it, which goes on without waiting: on the
// stack of that thread no page may be protected either.
#include "batch.h"

#include <pthread.h>

enum { BYTES = 200 << 10, STACK_BYTES = 1 << 20 };

static cudaStream_t stream;
static void *device;

static void *send(void *source)
{
    busy(stream);
    batch_copy(device, source, BYTES, cudaMemcpySrcAccessOrderAny, stream);
    return NULL;
}

static void *work(void *right)
{
    unsigned char local[BYTES];
    pthread_t sender;
    fill(local, BYTES, WANTED);
    CHECK(pthread_create(&sender, NULL, send, local));
    CHECK(pthread_join(sender, NULL));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(local, BYTES, FOREIGN);
    *(bool *)right = holds(local, BYTES, FOREIGN);
    CHECK(cudaStreamSynchronize(stream));
    return NULL;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t worker;
    bool right = false;
    stream = new_stream();
    device = device_block(BYTES, 0);
    CHECK(pthread_attr_init(&attributes));
    CHECK(pthread_attr_setstacksize(&attributes, STACK_BYTES));
    CHECK(pthread_create(&worker, &attributes, work, &right));
    CHECK(pthread_join(worker, NULL));
    return finish(right && device_holds(device, BYTES, WANTED));
}

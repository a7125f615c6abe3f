// expect: SC303 action=rerouted certainty=observed event=cuMemHostAlloc
//
// One thread allocates pinned memory again and again, instead of before the work begins, while
// another begins and ends captures: no allocation ends one, however closely that begins behind it.
#include "capture.h"

#include <stdatomic.h>

enum { CAPTURES = 200, ALLOCATIONS = 1000, ALLOCATIONS_BESIDE = 20 };

static atomic_bool captured;
static atomic_int allocated; /* so often, which a loaded machine may hold up */

static void *allocate_again(void *unused)
{
    for (int i = 0; i < ALLOCATIONS && !atomic_load(&captured); i++) {
        void *block = NULL;
        TRY(cudaMallocHost(&block, SMALL));
        atomic_fetch_add(&allocated, 1);
        usleep(20);
    }
    return unused;
}

static void capture_again(void *to, const void *from, cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    usleep(100);
    capture_copy(to, from, stream);
    if (TRY(cudaStreamEndCapture(stream, &graph)))
        CHECK(cudaGraphDestroy(graph));
}

int main(void)
{
    pthread_t allocations;
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);

    if (fixed)
        allocate_again(NULL);
    else
        pthread_create(&allocations, NULL, allocate_again, NULL);
    for (int i = 0; i < CAPTURES || atomic_load(&allocated) < ALLOCATIONS_BESIDE; i++)
        capture_again(to, from, stream);
    atomic_store(&captured, true);
    if (!fixed)
        pthread_join(allocations, NULL);
    return finish(!broken);
}

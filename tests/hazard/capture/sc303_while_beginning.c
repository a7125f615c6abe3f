// expect: SC303 action=rerouted certainty=observed event=cuMemHostAlloc
//
// One thread allocates pinned memory again and again, instead of before the work begins, while
// another begins and ends captures: no allocation ends one, however closely that begins behind it.
#include "capture.h"

enum { CAPTURES = 200, ALLOCATIONS = 1000 };

static bool captured;

static void *allocate_again(void *unused)
{
    for (int i = 0; i < ALLOCATIONS && !__atomic_load_n(&captured, __ATOMIC_RELAXED); i++) {
        void *block = NULL;
        TRY(cudaMallocHost(&block, SMALL));
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
    for (int i = 0; i < CAPTURES; i++)
        capture_again(to, from, stream);
    __atomic_store_n(&captured, true, __ATOMIC_RELAXED);
    if (!fixed)
        pthread_join(allocations, NULL);
    return finish(!broken);
}

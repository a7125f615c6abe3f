// expect: SC301 action=rerouted certainty=observed event=cuMemcpyHtoDAsync_v2
//
// One thread copies in the legacy stream, instead of a stream of its own, again and again, while
// another begins and ends captures: each copy is found in time, however closely a capture begins
// behind it.
#include "capture.h"

#include <stdatomic.h>

enum { CAPTURES = 200, COPIES = 4, COPIES_BESIDE = 20 };

static atomic_bool captured;
static atomic_int copied; /* so often by the other thread, which a loaded machine may hold up */

static void *copy_again(void *device)
{
    cudaStream_t stream = fixed ? new_stream() : 0;
    void *source = pinned_block(SMALL, WANTED);
    while (!atomic_load(&captured)) {
        TRY(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
        atomic_fetch_add(&copied, 1);
        usleep(20);
    }
    CHECK(cudaStreamSynchronize(stream));
    return NULL;
}

static void capture_again(void *to, const void *from, cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    usleep(100);
    for (int i = 0; i < COPIES; i++)
        capture_copy(to, from, stream);
    if (TRY(cudaStreamEndCapture(stream, &graph)))
        CHECK(cudaGraphDestroy(graph));
}

int main(void)
{
    pthread_t copies;
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *device = device_block(SMALL, 0);

    pthread_create(&copies, NULL, copy_again, device);
    for (int i = 0; i < CAPTURES || atomic_load(&copied) < COPIES_BESIDE; i++)
        capture_again(to, from, stream);
    atomic_store(&captured, true);
    pthread_join(copies, NULL);
    return finish(!broken && device_holds(device, SMALL, WANTED));
}

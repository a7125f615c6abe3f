// expect: SC301 action=reported certainty=observed
//
// Another thread's per-thread default stream is busy, and nobody but that thread can tell with
// what. A copy in the legacy stream, which comes after it, is refused (906) as ever, and the
// capture fails (901): the program goes on without a graph.
#include "capture.h"

#include <semaphore.h>

static sem_t issued;
static sem_t over;
static void *source;

static void fill_source(void *unused)
{
    sleep_in_stream(unused);
    fill(source, SMALL, WANTED);
}

static void *prepare(void *unused)
{
    CHECK(cudaLaunchHostFunc(cudaStreamPerThread, fill_source, NULL));
    if (fixed)
        CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    sem_post(&issued);
    while (sem_wait(&over) != 0)
        continue;
    return unused;
}

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaStream_t uploads = fixed ? new_stream() : cudaStreamLegacy;
    void *to = device_block(SMALL, 0);
    pthread_t thread;
    source = pinned_block(SMALL, 0);
    sem_init(&issued, 0, 0);
    sem_init(&over, 0, 0);
    if (pthread_create(&thread, NULL, prepare, NULL) != 0)
        return 3;
    while (sem_wait(&issued) != 0)
        continue;

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaError_t copied = cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, uploads);
    bool ended = ends_with(fixed ? cudaSuccess : cudaErrorStreamCaptureInvalidated, stream);
    bool refused = copied == cudaErrorStreamCaptureImplicit;
    if (refused)
        CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, uploads));

    sem_post(&over);
    pthread_join(thread, NULL);
    CHECK(cudaDeviceSynchronize());
    return finish(ended && refused == !fixed && device_holds(to, SMALL, WANTED));
}

// expect: SC301 action=rerouted certainty=observed
//
// Another thread's per-thread default stream is still bringing data to the host when the legacy
// stream, which comes after it, carries that to the device, during a capture.
#include "capture.h"

#include <semaphore.h>

static sem_t issued;
static sem_t over;
static const void *from;
static void *staging;
static cudaEvent_t downloaded;

static void *download(void *unused)
{
    CHECK(cudaLaunchHostFunc(cudaStreamPerThread, sleep_in_stream, NULL));
    CHECK(cudaMemcpyAsync(staging, from, SMALL, cudaMemcpyDeviceToHost, cudaStreamPerThread));
    CHECK(cudaEventRecord(downloaded, cudaStreamPerThread));
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
    cudaGraph_t graph = NULL;
    pthread_t thread;
    from = device_block(SMALL, WANTED);
    staging = pinned_block(SMALL, 0);
    downloaded = new_event();
    sem_init(&issued, 0, 0);
    sem_init(&over, 0, 0);
    if (pthread_create(&thread, NULL, download, NULL) != 0)
        return 3;
    while (sem_wait(&issued) != 0)
        continue;

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    if (fixed)
        CHECK(cudaStreamWaitEvent(uploads, downloaded, 0));
    TRY(cudaMemcpyAsync(to, staging, SMALL, cudaMemcpyHostToDevice, uploads));
    if (TRY(cudaStreamEndCapture(stream, &graph)))
        CHECK(cudaGraphDestroy(graph));

    sem_post(&over);
    pthread_join(thread, NULL);
    CHECK(cudaDeviceSynchronize());
    return finish(!broken && device_holds(to, SMALL, WANTED));
}

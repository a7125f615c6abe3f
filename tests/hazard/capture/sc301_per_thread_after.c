// expect: SC301 action=rerouted certainty=observed
//
// The legacy stream is busy with what it was given during the capture when another thread brings
// the result to the host, on its per-thread default stream: which comes after the legacy one.
#include "capture.h"

#include <semaphore.h>

static sem_t ready;
static sem_t issued;
static void *from;
static void *target;
static cudaEvent_t uploaded;
static bool right;

static void post_and_wait(sem_t *mine, sem_t *other)
{
    sem_post(mine);
    while (sem_wait(other) != 0)
        continue;
}

static void *download(void *unused)
{
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, cudaStreamPerThread));
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    post_and_wait(&ready, &issued);
    if (fixed)
        CHECK(cudaStreamWaitEvent(cudaStreamPerThread, uploaded, 0));
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, cudaStreamPerThread));
    TRY(cudaEventRecord(uploaded, cudaStreamPerThread));
    TRY(cudaEventSynchronize(uploaded));
    right = holds(target, SMALL, WANTED);
    return unused;
}

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaStream_t uploads = fixed ? new_stream() : cudaStreamLegacy;
    void *source = pinned_block(SMALL, WANTED);
    cudaGraph_t graph = NULL;
    pthread_t thread;
    from = device_block(SMALL, 0);
    target = pinned_block(SMALL, 0);
    uploaded = new_event();
    sem_init(&ready, 0, 0);
    sem_init(&issued, 0, 0);
    if (pthread_create(&thread, NULL, download, NULL) != 0)
        return 3;
    while (sem_wait(&ready) != 0)
        continue;

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    TRY(cudaLaunchHostFunc(uploads, sleep_in_stream, NULL));
    TRY(cudaMemcpyAsync(from, source, SMALL, cudaMemcpyHostToDevice, uploads));
    if (fixed)
        CHECK(cudaEventRecord(uploaded, uploads));
    sem_post(&issued);
    pthread_join(thread, NULL);
    if (TRY(cudaStreamEndCapture(stream, &graph)))
        CHECK(cudaGraphDestroy(graph));
    return finish(!broken && right);
}

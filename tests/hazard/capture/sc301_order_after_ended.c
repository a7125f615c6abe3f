// expect: SC301 action=rerouted certainty=observed
// needs: sim
//
// The capture ends, and its stream goes, while another thread is in the middle of an operation in
// the legacy stream: a handler of the program holds it up where it reads its source. What follows
// in the legacy stream still comes after that operation. (A driver might be locked then.)
#include "capture.h"

#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>

static sem_t reading;
static sem_t ended;
static void *source;
static void *from;
static cudaStream_t uploads;

static void hold_up(int signal)
{
    (void)signal;
    sem_post(&reading);
    while (sem_wait(&ended) != 0)
        continue;
    mprotect(source, SMALL, PROT_READ | PROT_WRITE);
}

static void *upload(void *unused)
{
    TRY(cudaLaunchHostFunc(uploads, sleep_in_stream, NULL));
    TRY(cudaMemcpyAsync(from, source, SMALL, cudaMemcpyHostToDevice, uploads));
    sem_post(&reading); /* if it was refused */
    return unused;
}

static void *protected_block(void)
{
    void *block = mmap(NULL, SMALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fill(block, SMALL, WANTED);
    CHECK(mprotect(block, SMALL, PROT_NONE));
    return block;
}

static void end(cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    if (TRY(cudaStreamEndCapture(stream, &graph)))
        CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
}

int main(void)
{
    struct sigaction action = {.sa_handler = hold_up};
    cudaStream_t stream = blocking_stream();
    void *target = pinned_block(SMALL, 0);
    pthread_t thread;
    uploads = fixed ? new_stream() : cudaStreamLegacy;
    from = device_block(SMALL, 0);
    source = protected_block();
    sem_init(&reading, 0, 0);
    sem_init(&ended, 0, 0);
    sigaction(SIGSEGV, &action, NULL);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    if (pthread_create(&thread, NULL, upload, NULL) != 0)
        return 3;
    while (sem_wait(&reading) != 0)
        continue;
    end(stream);
    sem_post(&ended);
    pthread_join(thread, NULL);

    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, uploads));
    CHECK(cudaStreamSynchronize(uploads));
    return finish(!broken && holds(target, SMALL, WANTED));
}

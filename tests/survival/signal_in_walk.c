// expect-exit: 0
// preload-also: stopped_walk
//
// A handler keeps its thread until another thread has copied, as a collector does that stops the
// threads one by one. It may come while the library has the loader's list of objects on that
// thread, and the other thread's stack is found by way of that list.
#include "signals.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <time.h>

enum { SIZE = 64 << 10 };

static sem_t may_copy, has_copied;
static _Atomic int went_on;

static void wait_for_other(int number)
{
    struct timespec until;
    (void)number;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    sem_post(&may_copy);
    went_on = sem_timedwait(&has_copied, &until) == 0;
}

static void stop(void)
{
    raise(SIGUSR1);
}

static __attribute__((noinline)) void copy(void)
{
    void *pinned = NULL, *device = NULL;
    cudaStream_t stream = NULL;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost(&pinned, SIZE));
    CHECK(cudaMalloc(&device, SIZE));
    CHECK(cudaMemcpyAsync(device, pinned, SIZE, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaStreamDestroy(stream));
}

static void *copy_later(void *argument)
{
    sem_wait(&may_copy);
    copy();
    sem_post(&has_copied);
    return argument;
}

int main(void)
{
    pthread_t other;
    struct sigaction action = {.sa_handler = wait_for_other};
    void (**stop_in_walk)(void) = dlsym(RTLD_DEFAULT, "sc_stop_in_walk");
    if (!stop_in_walk)
        return 3;
    sem_init(&may_copy, 0, 0);
    sem_init(&has_copied, 0, 0);
    CHECK(sigaction(SIGUSR1, &action, NULL));
    CHECK(cudaFree(NULL));
    CHECK(pthread_create(&other, NULL, copy_later, NULL));
    *stop_in_walk = stop;
    copy();
    if (*stop_in_walk) { /* nobody has walked */
        *stop_in_walk = NULL;
        stop();
    }
    CHECK(pthread_join(other, NULL));
    printf("the other thread %s\n", went_on ? "went on" : "was held up");
    return 0;
}
